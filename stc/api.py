"""From Python: `stc.compile(module, inputs)` gives the compiled design as an object.

    design = stc.compile(module, (x,), tile=8)
    design(x)                        # tensors, as the module gives them: the emitted C++ is built and run
    design.check().passed            # compared with PyTorch on several draws of inputs
    design.simulate().cycles
    design.report()["resources"]     # report.json
    print(design.ir("kernel-fusion"))

`stc.compile_model("gpt2-tiny")` gives a whole language model that writes. `stc.explored_model("gpt2-tiny", seq=5)` gives the
problem that `stc explore` searches, for a search of one's own.
"""

from __future__ import annotations

import inspect
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stc.diagnostics import CompileError
from stc.pipeline import PipelineOptions, Step, part
from stc.transforms.pass_pipeline import did_you_mean

if TYPE_CHECKING:
    import torch
    from xdsl.dialects.builtin import ModuleOp

    from stc.exploration.problem import Problem
    from stc.frontend.exported import ExportedModel
    from stc.runtime.language_model import Generation, LanguageModel
    from stc.runtime.sampling import Sampling
    from stc.runtime.tokenizer import Tokenizer
    from stc.simulation.csim import CsimResult
    from stc.simulation.simulation_result import SimulationResult

By = Literal["csim", "executor"]
"""What executes a design: the emitted C++ with its FIFO depths, or the IR that it was emitted from, by numpy."""

INPUT = "input"
"""The level before all passes."""


def compile(
    module: torch.nn.Module,
    inputs: Sequence[torch.Tensor] | Mapping[str, torch.Tensor],
    *,
    out: str | Path | None = None,
    name: str | None = None,
    load: Sequence[str | Path] = (),
    check_inputs: Sequence[str] | None = None,
    seed: int = 0,
    minimise_depths: float | None = None,
    host: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> Design:
    """Compile `module` for the shapes of `inputs` (a mapping is passed by keyword) into a project of C++ and host programs.

    `out`: the folder, new or empty; None for one that goes with the design. `name`: of the accelerator, default: the class's.
    `load`: files as of `--load`. `check_inputs`, `seed`: draws of inputs that are checked, default: those that suit the size.
    `minimise_depths`: part of the cycles that FIFO depths found by running may lose, None for no such runs. `host`: paths of
    submodules that PyTorch runs between kernels, which torch.export has to trace here (docs/host_parts.md). `options`: as of
    `stc compile` (`stc.pipeline.PipelineOptions`), `schedule` included. CompileError for whatever is unusable; nothing is left of
    `out` then.
    """
    import torch

    from stc.codegen.project import require_free
    from stc.dialects.printing import print_module
    from stc.frontend.draws import Draws
    from stc.frontend.export import export
    from stc.quantisation.formats import read_quantisation
    from stc.tools.compile import compile_from
    from stc.tools.loading import load_all
    from stc.tools.request import CompileRequest, named
    from stc.tools.schedule_file import with_schedule
    from stc.tools.start import Start

    if not isinstance(module, torch.nn.Module):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise CompileError(f"module is {module!r}", accepted="a torch.nn.Module, made")
    if isinstance(inputs, torch.Tensor | str) or not isinstance(inputs, Sequence | Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise CompileError(f"inputs are a {type(inputs).__name__}", accepted="a sequence or mapping of tensors, such as (x,)")
    # The letters of a text would be paths.
    if isinstance(host, str) or not isinstance(host, Sequence) or not all(isinstance(path, str) for path in host):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise CompileError(f"host is {host!r}", accepted="a sequence of paths of submodules")
    if not isinstance(out, str | Path | None):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise CompileError(f"out is {out!r}", accepted="the path of a folder, new or empty, or None")
    progress("export to linalg")
    load_all(load)
    chosen = with_schedule(_options(options), options)
    temporary = tempfile.TemporaryDirectory(prefix="stc-") if out is None else None
    folder = Path(temporary.name) / "design" if temporary is not None else Path(out or "")
    name = name or type(module).__name__.lower()
    require_free(folder)
    read_quantisation(chosen.quantize).require_no_cache(name)
    if host and chosen.quantize:
        what = f"host with quantize '{chosen.quantize}', of parts that PyTorch runs as they are"
        raise CompileError(what, accepted="f32, or no host")
    begin = time.perf_counter()
    draws = None if check_inputs is None else tuple(check_inputs)
    model = export(module, inputs, name=name, draws=Draws(draws, seed, chosen.quantize), host=host)
    before = print_module(model.module)
    request = CompileRequest(
        name, seed=seed, emit_ir=True, options=named(chosen, name), minimise_depths=minimise_depths, check_inputs=draws,
        host=tuple(host) or None,
    )
    start = Start(request, model, request.options, request.plan.steps(request.options), 0, {"reference": model.reference})
    compile_from(start, folder, progress, {"torch_import": 0.0, "export": time.perf_counter() - begin}, is_named=False)
    with torch.no_grad():
        example = module(**inputs) if isinstance(inputs, Mapping) else module(*inputs)
    given = {name for part in model.host_parts for name in part.gives}
    names = tuple(inputs) if isinstance(inputs, Mapping) else tuple(name for name in model.input_names if name not in given)
    values = inputs if isinstance(inputs, Mapping) else dict(zip(names, inputs, strict=True))
    return Design(folder, model.module, model, start.steps, _Signature(module, values, example), before, temporary)


def _options(given: Mapping[str, Any]) -> PipelineOptions:
    """The options of the pipeline, by keyword; CompileError for one that does not exist, or has a value of another type."""
    known = {field.name: type(field.default) for field in fields(PipelineOptions)}
    for name, value in given.items():
        if name not in known:
            raise CompileError(f"there is no option '{name}'{did_you_mean(name, known)}", accepted=", ".join(known))
        if type(value) is not known[name] and not (known[name] is str and isinstance(value, Path)):
            raise CompileError(f"option '{name}' is {value!r}", accepted=f"a value of type {known[name].__name__}")
    values: dict[str, Any] = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    return PipelineOptions(**values)


@dataclass(frozen=True)
class _Signature:
    """How `module` is called: tensors like `inputs`, by name; it gives what looks like `example`."""

    module: torch.nn.Module
    inputs: Mapping[str, torch.Tensor]
    example: Any

    def arrays(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call as arrays by name; CompileError where they are not like those it was compiled for."""
        from stc.frontend.arrays import to_numpy

        try:
            given = inspect.signature(self.module.forward).bind(*args, **kwargs).arguments
        except TypeError as error:
            raise CompileError(f"the arguments do not fit forward: {error}", accepted=self._accepted()) from None
        flat: dict[str, Any] = {}
        for (name, parameter), value in zip(self._parameters(given), given.values(), strict=True):
            match parameter.kind:
                case inspect.Parameter.VAR_POSITIONAL:
                    flat |= dict(zip(list(self.inputs)[len(flat) :], value, strict=False))
                case inspect.Parameter.VAR_KEYWORD:
                    flat |= value
                case _:
                    flat[name] = value
        import torch

        for name, like in self.inputs.items():
            value = flat.pop(name, None)
            if not isinstance(value, torch.Tensor) or value.shape != like.shape or value.dtype != like.dtype:
                what = f"a tensor {tuple(value.shape)} of {value.dtype}" if isinstance(value, torch.Tensor) else repr(value)
                raise CompileError(f"input {name} is {what}", accepted=self._accepted())
            flat[name] = to_numpy(value, name)
        if extra := [name for name in flat if name not in self.inputs]:
            raise CompileError(f"the design was compiled without input {extra[0]}", accepted=self._accepted())
        return flat

    def result(self, arrays: Sequence[Any]) -> Any:
        """Arrays of the outputs, in order, as the module gives them: in its structure, of its types."""
        import torch
        from torch.utils import _pytree as pytree

        from stc.frontend.arrays import to_tensor

        leaves, structure = pytree.tree_flatten(self.example)
        left = iter(arrays)
        return pytree.tree_unflatten(
            [to_tensor(next(left), leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], structure
        )

    def _parameters(self, given: Mapping[str, Any]) -> list[tuple[str, inspect.Parameter]]:
        found = inspect.signature(self.module.forward).parameters
        return [(name, found[name]) for name in given]

    def _accepted(self) -> str:
        return ", ".join(f"{name}: {tuple(value.shape)} of {value.dtype}" for name, value in self.inputs.items())


@dataclass
class Design:
    """A compiled module. `folder`: the emitted project, on which `stc csim`, `stc simulate`, ... work as well."""

    folder: Path
    module: ModuleOp
    _model: ExportedModel
    _steps: Sequence[Step]
    _signature: _Signature
    _before: str
    _temporary: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<Design of {self._signature.module.__class__.__name__} in {self.folder}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the module would give, computed by the emitted C++; CompileError for arguments of other shapes or types."""
        return self.run(*args, **kwargs)

    def run(self, *args: Any, by: By = "csim", **kwargs: Any) -> Any:
        """The same, by the C simulation (which needs g++), or by the executor of the IR."""
        arrays = self._signature.arrays(args, kwargs)
        if by == "csim":
            results = self._accelerator(arrays)
            return self._signature.result([results[name] for name in self._outputs])
        if by != "executor":
            raise CompileError(f"nothing is executed by '{by}'", accepted="csim, executor")
        if self._model.host_parts:
            raise CompileError("the executor of the IR runs no parts on the host", accepted="csim")
        from stc.execution.run import execute
        from stc.frontend.signature import argument_names

        values = {**self._model.parameters, **arrays}
        return self._signature.result(execute(self.module, [values[name] for name in argument_names(self.module)], depths=True))

    def check(self, timeout: float = 600.0) -> CsimResult:
        """Build the emitted C++, run it on the drawn inputs, compare with PyTorch; near-ties of activations are no errors."""
        from stc.simulation.csim import csim
        from stc.tools.near_ties import with_near_ties

        return with_near_ties(self.folder, csim(self.folder, timeout), self._model)

    def simulate(self, **options: Any) -> SimulationResult:
        """Run the design with time. `options`: as of `stc.simulation.timing_table.SimulationOptions`."""
        from stc.simulation.simulate import simulate
        from stc.simulation.timing_table import SimulationOptions
        from stc.tools.near_ties import with_near_ties

        known = [field.name for field in fields(SimulationOptions)]
        if unknown := [name for name in options if name not in known]:
            raise CompileError(f"there is no option '{unknown[0]}'{did_you_mean(unknown[0], known)}", accepted=", ".join(known))
        result = simulate(self.folder, SimulationOptions(**options))
        return replace(result, values=with_near_ties(self.folder, result.values, self._model)) if result.compared else result

    def report(self) -> dict[str, Any]:
        """The contents of report.json."""
        return json.loads((self.folder / "report.json").read_text())

    def ir(self, level: str) -> str:
        """The IR behind a pass or a stage, by name (`fuse-kernels`, `kernel-fusion`), or "input": before all passes."""
        if not isinstance(level, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise CompileError(f"level is {level!r}", accepted=f"the name of a pass or a stage, or '{INPUT}'")
        if level == INPUT:
            return self._before
        index = len(part(self._steps, last=level)) - 1
        (path,) = (self.folder / "ir").glob(f"{index:02d}_*.mlir")
        return path.read_text()

    @cached_property
    def _accelerator(self) -> Any:
        from stc.runtime.accelerator import Accelerator

        return Accelerator(self.folder)

    @cached_property
    def _outputs(self) -> list[str]:
        """What the project calls the model's results, in their order: kernels may write them in another."""
        from stc.codegen.host_plan import host_plan
        from stc.codegen.manifest_builder import names_of_tensors

        names = names_of_tensors(host_plan(self.module).tensors)
        written = {tensor.name: name for tensor, name in names.items() if tensor.role == "output"}
        taken = {name for part in self._model.host_parts for name in part.takes}
        return [written[name] for name in self._model.output_names if name not in taken]


def compile_model(
    model: str | Path,
    *,
    max_seq: int | None = None,
    rows: int | None = None,
    target: str = "stages",
    out: str | Path | None = None,
    weights: str | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> CompiledModel:
    """Compile a whole language model: a preset, or a folder of transformers with its own weights.

    `max_seq`: positions of the cache, default: 128, or as many as the model has. `rows`: tokens of a launch of prefill, default:
    16, or 1 of a decoder. `target`: as of `stc compile`. `out`: the folder, new or empty; None for one that goes with the model.
    `weights`: as of `stc compile`; random by `seed` where there are none. `options`: as of `stc compile`
    (`stc.pipeline.PipelineOptions`). CompileError for whatever is unusable.
    """
    from stc.tools.language_model import ROWS, compile_language_model, model_request
    from stc.tools.targets import with_target

    temporary = tempfile.TemporaryDirectory(prefix="stc-") if out is None else None
    folder = Path(temporary.name) / "model" if temporary is not None else Path(out or "")
    given = frozenset({*options, *(() if rows is None else ("rows",))})
    chosen = _options(with_target({**options, "rows": ROWS if rows is None else rows}, target, given))
    compile_language_model(model_request(str(model), max_seq, weights, seed, chosen, target, given), folder, progress)
    return CompiledModel(folder, temporary)


@dataclass
class CompiledModel:
    """A compiled language model. `folder`: what `stc generate` takes as well; each of its projects is one for `stc csim`, ..."""

    folder: Path
    _temporary: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

    def generate(self, prompt: str | Sequence[int], max_new_tokens: int = 64, sample: Sampling | None = None) -> Generation:
        """An iterator over what follows a text or tokens, by the C simulation (which needs g++); greedily without `sample`.

        CompileError for a prompt that the model cannot take, and for a text where it has no tokenizer.
        """
        tokens = self.tokenizer().encode(prompt) if isinstance(prompt, str) else prompt
        return self.loaded.generate(tokens, max_new_tokens, sample)

    def tokenizer(self) -> Tokenizer:
        """The model's own; CompileError where it has none."""
        return self.loaded.tokenizer()

    @cached_property
    def loaded(self) -> LanguageModel:
        """The emitted C++, built."""
        from stc.runtime.language_model import LanguageModel

        return LanguageModel(self.folder)


def explored_model(
    model: str | Path,
    *,
    stage: str = "prefill",
    seq: int = 32,
    max_seq: int | None = None,
    layer: int | None = None,
    weights: str | None = None,
    seed: int = 0,
    load: Sequence[str | Path] = (),
    progress: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> Problem:
    """Everything that a model's `schedule.toml` decides as a problem: `space`, `default()`, `evaluate(point)`, `schedules(point)`.

    `model`, `stage`, `seq`, `max_seq`, `layer`, `weights`, `seed`: as of `stc compile`; the stage `"model"` is all stages of a
    language model together (`stc.exploration.stages`). `load`: files as of `--load`. `options`: those of `stc compile`
    (`stc.pipeline.PipelineOptions`) that hold for all designs, and are no choices then. CompileError for whatever is unusable.
    """
    from stc.tools.explored_stages import explored_problem
    from stc.tools.loading import load_all
    from stc.tools.request import CompileRequest, in_folder

    load_all(load)
    name, own_weights = in_folder(str(model), weights)
    chosen = _options(options)
    request = CompileRequest(
        name, stage, seq, seed=seed, weights=own_weights, layer=layer, options=chosen, max_seq=max_seq, given=frozenset(options)
    )
    return explored_problem(request, progress)
