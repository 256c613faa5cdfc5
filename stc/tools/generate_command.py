"""`stc generate`: continue a text with a compiled language model, token by token."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stc.diagnostics import CompileError
from stc.manifest.model_files import MODEL
from stc.manifest.model_schema import BINARY
from stc.pipeline import PipelineOptions
from stc.platforms.budget import PLAN
from stc.quantisation.formats import F32
from stc.runtime.devices import CSIM, XRT
from stc.tools.compile_options import budget_of, given_options
from stc.tools.consoles import messages, print_json
from stc.tools.options import (
    AsJson,
    Budget,
    DType,
    MaxSequence,
    Quantize,
    Rows,
    Seed,
    Small,
    Target,
    TokensPerLaunch,
    Weights,
)
from stc.tools.request import STAGES, with_dtype
from stc.tools.stages import CHECK_FAILED
from stc.tools.targets import with_target

if TYPE_CHECKING:
    import numpy as np

    from stc.frontend.sources import LanguageModelSource
    from stc.runtime.language_model import Generation, LanguageModel, Limits
    from stc.runtime.tokenizer import Tokenizer
    from stc.tools.generation_check import GenerationCheck
    from stc.tools.request import CompileRequest


DEVICES = "csim: the emitted C++, here; xrt: a card, or the emitted C++ behind XRT where there is none; or the index of a card."


def generate_command(
    ctx: typer.Context,
    model: Annotated[str, typer.Argument(help="A preset, a folder with a config.json, or one of stc compile --stage model.")],
    prompt: Annotated[str | None, typer.Option(help="The text to continue.")] = None,
    tokens: Annotated[str | None, typer.Option(help="Instead of a text: numbers of tokens, with commas.")] = None,
    max_new_tokens: Annotated[int, typer.Option(help="Tokens to write at most.")] = 64,
    device: Annotated[str, typer.Option(help=DEVICES)] = CSIM,
    xclbin: Annotated[Path | None, typer.Option(help="For a card: the binary with the model's kernels.")] = None,
    sample: Annotated[str, typer.Option(metavar="T,P,SEED", help="Draw tokens: temperature,top-p,seed. Default: greedy.")] = "",
    max_seq: MaxSequence = None,
    rows: Rows = 16,
    budget: Budget = PLAN,
    small: Small = False,
    target: Target = STAGES,
    layers: Annotated[int, typer.Option(help="Layers of a launch: a number that divides the model's.", min=1)] = 1,
    tokens_per_launch: TokensPerLaunch = 1,
    dtype: DType = F32,
    quantize: Quantize = "",
    weights: Weights = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Keep what is compiled in this new folder.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare with PyTorch: all tokens and logits; of a quantised model, with f32's, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Continue a text with MODEL on the accelerator that is emitted for it, compiled first if it is not yet.

    Example: stc generate examples/stories260K --prompt "Once upon a time" --max-new-tokens 100
    """
    from stc.runtime.language_model import LanguageModel
    from stc.runtime.sampling import read_sampling
    from stc.tools.language_model import model_request

    asked, sampling = _Asked.read(prompt, tokens, max_new_tokens), read_sampling(sample)
    opened = _device(device, xclbin, Path(model))
    said = given_options(ctx)
    own = {"rows": rows, "quantize": quantize, "budget": budget_of(ctx, budget, small=small), "layers": layers}
    own["tokens_per_launch"] = tokens_per_launch
    own["units"] = PipelineOptions.units if layers == 1 else "memory"
    chosen = with_dtype(PipelineOptions(**with_target(own, target, said)), dtype)
    request = model_request(model, max_seq, weights, seed, chosen, target, said)
    with _folder(request, out, asked) as folder:
        given = asked.tokens_for(folder)
        with messages.status("building the emitted C++" if opened in (CSIM, XRT) else "loading the design"):
            loaded = LanguageModel(folder, opened, xclbin)
        tokenizer = loaded.tokenizer() if loaded.manifest.tokenizer is not None else None
        generation = loaded.generate(given, max_new_tokens, sampling)
        logits: list[np.ndarray] = []
        tokens_of = _keeping(generation, logits)
        produced = list(tokens_of) if as_json else _show(generation.prompt, tokens_of, tokenizer, prompt)
        told = figures(loaded, generation, len(produced), opened)
        found = _checked(loaded, generation, produced, logits) if check else None
        if as_json:
            text = None if tokenizer is None else "".join(text for _, text in tokenizer.stream(generation.prompt, produced))
            compared = {} if found is None else {"check": asdict(found)}
            print_json({"tokens": produced, "text": text, **told, **compared})
        else:
            for line in (*told_of(told), *(() if found is None else found.told())):
                messages.print(line, markup=False, soft_wrap=True)
        if found is not None and not found.reference.passed:
            raise typer.Exit(CHECK_FAILED)


LAUNCHES = "interpolated between positions of the cache; launching as the platform says; without transfers between host and card"
"""What the modelled time has of a launch."""


EXECUTED_ON = {CSIM: "the C simulation", XRT: "the C simulation behind XRT"}


def figures(model: LanguageModel, generation: Generation, count: int, device: str) -> dict[str, Any]:
    """What is said of a generation of `count` tokens; times in seconds."""
    modelled = model.modelled_seconds(generation.launched)
    origins = sorted({project.origin for project in model.manifest.projects})
    return {
        "prompt": list(generation.prompt),
        "finish": generation.finish,
        "near_ties": generation.near_ties,
        "launches": dict(generation.launches),
        "seconds": {"origin": f"executed on {EXECUTED_ON.get(device, 'the card')}", "all": generation.seconds},
        "modelled_seconds": {"origin": "; ".join((*(f"cycles {origin}" for origin in origins), LAUNCHES)), "all": modelled},
        "tokens_per_second": count / generation.seconds if generation.seconds else None,
        "modelled_tokens_per_second": count / modelled if modelled else None,
    }


def told_of(figures: Mapping[str, Any]) -> Iterator[str]:
    """Lines for a terminal."""
    here, card = figures["tokens_per_second"], figures["modelled_tokens_per_second"]
    yield f"ended: {figures['finish']}; near-ties: {figures['near_ties']}"
    if here is not None:
        yield f"{here:.1f} tokens per second ({figures['seconds']['origin']}, prompt included)"
    known = "not known" if card is None else f"{card:.0f} tokens per second"
    yield f"on the card: {known}, modelled:"
    yield from (f"  {part}" for part in figures["modelled_seconds"]["origin"].split("; "))


def _keeping(generation: Generation, logits: list[np.ndarray]) -> Iterator[int]:
    """The tokens, while the logits that each was chosen by are kept."""
    for token in generation:
        assert generation.logits is not None
        logits.append(generation.logits)
        yield token


def _checked(model: LanguageModel, generation: Generation, tokens: list[int], logits: list[np.ndarray]) -> GenerationCheck:
    import numpy as np

    from stc.tools.generation_check import check_generation

    with messages.status("comparing with PyTorch"):
        return check_generation(model.manifest, generation.prompt, tokens, np.stack(logits))


def _show(before: Sequence[int], tokens: Iterator[int], tokenizer: Tokenizer | None, prompt: str | None) -> list[int]:
    """Print text, or numbers of tokens, as they come behind those `before`; all of them."""
    shown: list[int] = []
    if tokenizer is None:
        for token in tokens:
            typer.echo(f"{' ' if shown else ''}{token}", nl=False)
            shown.append(token)
    else:
        typer.echo(prompt or "", nl=False)
        for token, text in tokenizer.stream(before, tokens):
            typer.echo(text, nl=False)
            shown.append(token)
    typer.echo()
    return shown


@dataclass(frozen=True)
class _Asked:
    """What is to be continued by at most `count` tokens: `prompt`, or `tokens`."""

    prompt: str
    tokens: Sequence[int] | None
    count: int

    @classmethod
    def read(cls, prompt: str | None, tokens: str | None, count: int) -> _Asked:
        if (prompt is None) == (tokens is None):
            complaint = "nothing to continue" if prompt is None else "both --prompt and --tokens"
            raise CompileError(complaint, accepted="--prompt TEXT, or --tokens 5,17,3")
        return cls(prompt or "", None if tokens is None else _numbers(tokens), count)

    def tokens_for(self, folder: Path) -> Sequence[int]:
        """The tokens that the compiled model in `folder` is to continue; CompileError where it cannot."""
        from stc.manifest.model_files import read_model, require_intact
        from stc.runtime.language_model import Limits

        model = read_model(folder)
        tokenizer = None if model.tokenizer is None else require_intact(folder, model.tokenizer)
        return self._within(Limits(model.name, model.vocabulary, model.max_seq), tokenizer)

    def check(self, source: LanguageModelSource) -> None:
        """The same before it is compiled."""
        from stc.runtime.language_model import Limits
        from stc.tools.language_model import tokenizer_of

        self._within(Limits(source.name, source.model.vocabulary, source.model.max_seq), tokenizer_of(source))

    def _within(self, limits: Limits, tokenizer: Path | None) -> Sequence[int]:
        from stc.runtime.tokenizer import Tokenizer

        if self.tokens is None and tokenizer is None:
            raise CompileError("the model has no tokenizer", where=limits.name, accepted="--tokens 5,17,3")
        tokens = self.tokens if tokenizer is None or self.tokens is not None else Tokenizer(tokenizer).encode(self.prompt)
        limits.require(tokens or (), self.count)
        return tokens or ()


def _device(device: str, xclbin: Path | None, model: Path) -> str:
    """The device as the runtime calls it; CompileError where it cannot be used for `model`."""
    from stc.runtime.xrt.device import has_card, simulates, vendor_driver
    from stc.simulation.build import find_compiler

    if device == CSIM:
        if xclbin is not None:
            raise CompileError("C simulation loads no binary", where=f"--xclbin {xclbin}", accepted="--device xrt, or no --xclbin")
        find_compiler()
        return CSIM
    if device != XRT and not device.isdigit():
        raise CompileError(f"--device {device}", accepted="csim, xrt, or the index of a card")
    if device == XRT and simulates():
        find_compiler()
        vendor_driver()
        return XRT
    if not has_card():
        raise CompileError("there is no card", where=f"--device {device}", accepted="--device csim, or xrt")
    if xclbin is None and not (model / MODEL).is_file():
        raise CompileError("no binary for the card", where=f"--device {device}", accepted="--xclbin FILE, with the model's kernels")
    binary = xclbin or model / BINARY
    if not binary.is_file():
        linked = f", or what `make -C {model} xclbin` links" if xclbin is None else ""
        raise CompileError("no such file", where=str(binary), accepted=f"--xclbin FILE, with the model's kernels{linked}")
    return "0" if device == XRT else device


@contextmanager
def _folder(request: CompileRequest, out: Path | None, asked: _Asked) -> Generator[Path]:
    """The compiled project that the model is, or that it is compiled to for as long as it is wanted, if it can do what is asked."""
    path, options = Path(request.model), request.options
    if (path / MODEL).is_file():
        named = request.max_seq is not None or request.weights is not None or request.target != STAGES
        if named or out is not None or options.quantize or options.layers > 1 or options.tokens_per_launch > 1:
            accepted = "no --max-seq, --weights, --dtype, --quantize, --target, --layers, --tokens-per-launch or --out"
            raise CompileError("the model is compiled already", where=request.model, accepted=accepted)
        yield path
        return
    from stc.tools.language_model import compile_language_model

    with tempfile.TemporaryDirectory(prefix="stc-") as temporary:
        folder = out or Path(temporary) / "model"
        with messages.status("starting") as status:
            compile_language_model(request, folder, lambda step: status.update(f"compiling: {step}"), asked.check)
        yield folder


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise CompileError(f"--tokens {text}", accepted="numbers of tokens with commas, such as 5,17,3") from None
