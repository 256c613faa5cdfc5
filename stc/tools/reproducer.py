"""Reproducer files, as MLIR writes them: the IR before a pass that crashed, and how to run it again.

    // configuration: stc-opt %s -p 'lower-dmas,lower-tasks'
    // pass 'lower-dmas' crashes: KeyError: 'port' (stc/transforms/stream/lower_dmas.py:88 in apply)
    // stc 0.1.0, xDSL 0.74.0, Python 3.11.7
    builtin.module { ... }

Nothing is kept while passes run: after a crash the passes before it are run once more on a copy of the input.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from stc.diagnostics import CompileError, PassCrashed
from stc.dialects.context import make_context
from stc.dialects.preconditions import unfit_for_passes
from stc.dialects.printing import print_module
from stc.extensions import load_options
from stc.pipeline import BrokenByPass, Observer, PipelineRun, Stage, Step, run_stages, steps
from stc.tools.crashes import crash_sentence
from stc.transforms.pass_pipeline import spelled_option

_CONFIGURATION = re.compile(r"^// configuration: stc-opt %s (-p .*)$", re.MULTILINE)


def versions() -> str:
    """What runs: our version, and those of what we stand on."""
    from importlib.metadata import version

    return f"{version('stc')}, xDSL {version('xdsl')}, Python {platform.python_version()}"


@dataclass(frozen=True)
class Reproducer:
    """IR, the passes that fail on it, and what happens."""

    module: ModuleOp
    passes: tuple[ModulePass, ...]
    complaint: str

    def text(self) -> str:
        """The contents of the file."""
        lines = (
            f"configuration: stc-opt %s -p '{pipeline_text(self.passes)}'{_words(load_options())}",
            self.complaint,
            f"stc {versions()}",
        )
        return "".join(f"// {line}\n" for line in lines) + print_module(self.module)

    def write(self, path: Path | None = None) -> Path:
        """Write the file, by default a new one in the temporary folder; its path. CompileError where it cannot be written."""
        if path is None:
            descriptor, name = tempfile.mkstemp(prefix="stc-reproducer-", suffix=".mlir")
            os.close(descriptor)
            path = Path(name)
        try:
            path.write_text(self.text())
        except OSError as error:
            raise CompileError(f"cannot write the reproducer: {error.strerror}", where=str(path), accepted="a path") from None
        return path


def reproducer_of(begin: ModuleOp, passes: Sequence[ModulePass], index: int, complaint: str) -> Reproducer:
    """The reproducer for a failure of the pass at `index`, given a copy of the IR before the first.

    It starts at that pass; at the first one where the passes in between do not run again as they did.
    """
    module, context = begin.clone(), make_context()
    try:
        for one_pass in passes[:index]:
            one_pass.apply(context, module)
    except (Exception, SystemExit):
        return Reproducer(begin, tuple(passes), complaint)
    sound = unfit_for_passes(module) is None
    return Reproducer(module, tuple(passes[index:]), complaint) if sound else Reproducer(begin, tuple(passes), complaint)


def run_or_reproduce(
    module: ModuleOp,
    context: Context,
    sequence: Sequence[Stage],
    observers: Sequence[Observer] = (),
    begin_pass: Callable[[Stage, str], None] = lambda stage, name: None,
    path: Path | None = None,
    run: PipelineRun | None = None,
) -> PipelineRun:
    """`run_stages`, where a defect of a pass becomes a reproducer file (at `path`) and `PassCrashed`, which names it."""
    begin, ready, begun = module.clone(), steps(sequence), 0

    def count(stage: Stage, name: str) -> None:
        nonlocal begun
        begun += 1
        begin_pass(stage, name)

    try:
        return run_stages(module, context, sequence, observers, count, run)
    except CompileError:
        raise
    except (Exception, SystemExit) as error:  # a pass may also call sys.exit: nothing would be written, and nothing said
        complaint = _complaint(ready[begun - 1], error)
        written = reproducer_of(begin, [step.one_pass for step in ready], begun - 1, complaint).write(path)
        raise PassCrashed(f"{complaint}; reproducer: {written}") from error


def _complaint(step: Step, error: BaseException) -> str:
    name = step.one_pass.name
    return f"after pass '{name}': {error}" if isinstance(error, BrokenByPass) else crash_sentence(name, error)


def _words(options: Sequence[str]) -> str:
    """Words behind others on a command line."""
    return f" {shlex.join(options)}" if options else ""


@dataclass(frozen=True)
class Recorded:
    """What a reproducer's header says: the passes as `-p` takes them, and the files of `--load` that they need."""

    pipeline: str
    files: tuple[str, ...] = ()


def recorded_pipeline(text: str, where: str) -> Recorded:
    """What the header of a reproducer names; CompileError where there is no such header."""
    found = _CONFIGURATION.search(text)
    words = [] if found is None else _split(found[1])
    options = list(zip(words[::2], words[1::2], strict=False))
    if [option for option, _ in options[:1]] != ["-p"] or any(option != "--load" for option, _ in options[1:]):
        raise CompileError("not a reproducer", where=where, accepted="a file with a line // configuration: stc-opt %s -p '...'")
    return Recorded(options[0][1], tuple(path for _, path in options[1:]))


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quotation that does not end
        return []


def pipeline_text(passes: Sequence[ModulePass]) -> str:
    """Passes as `stc-opt -p` takes them."""
    return ",".join(spelled_pass(one_pass) for one_pass in passes)


def spelled_pass(one_pass: ModulePass) -> str:
    """A pass with the options that are not at their defaults, as `stc-opt -p` takes it."""
    spec = one_pass.spec()
    return str(ArgSpec(spec.name, {spelled_option(name): value for name, value in spec.parameters.items()}))
