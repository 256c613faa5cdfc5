"""A language model on a GPU with PyTorch, for those who have one: time to the first token, decode, power and joules of a token.

    python benchmarks/gpu.py MODEL [--lengths 32 64 128 256] [--device cuda] [--dtype float16] [--repeat 5] [--json] [--keep]

MODEL is a preset (random weights, which take as long) or a folder of transformers. Batch 1, greedy, with a KV cache, by eager
PyTorch: a prompt of LENGTH tokens, drawn at random, and as many tokens behind it, as in the publication's tables. Times are medians
of the repetitions, behind one that is not counted. Power is sampled by pynvml, or by nvidia-smi where that is not installed, from
the first prompt to the last token; on other devices there is none. The first token is the prompt's, so that a latency is shorter by
one token than what the publications count, which have all tokens behind it. `--keep` adds each row to benchmarks/data/gpu.json
before the next begins: benchmarks/paper.py prints them beside ours. Nothing is fetched from the network. Exit code 0, or 2 for
what cannot be measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from measured_at import measured_at
from paper_published import Series

from stc.diagnostics import CompileError

DATA = Path(__file__).parent / "data" / "gpu.json"
DTYPES = ("float32", "float16", "bfloat16")
LENGTHS = (32, 64, 128, 256)
SAMPLE_SECONDS = 0.02
"""Between two samples of power; the driver's own average is over some 25 to 100 ms."""


@dataclass(frozen=True)
class Row:
    """A model and lengths on a device. `watts`, `joules_per_token`: None where the device's power cannot be read."""

    design: str
    system: str
    ttft_ms: float
    tokens_per_second: float
    latency_ms: float
    watts: float | None
    joules_per_token: float | None
    measured: str


def kept(data: Path = DATA) -> list[Series]:
    """The rows that were kept, as published figures are."""
    rows, found = _rows(data), list[Series]()
    figures: Mapping[str, Callable[[Row], float | None]] = {
        "decode": lambda row: row.tokens_per_second, "ttft": lambda row: row.ttft_ms, "latency": lambda row: row.latency_ms,
        "energy": lambda row: row.joules_per_token and 1 / row.joules_per_token,
    }  # fmt: skip
    for system in dict.fromkeys(row.system for row in rows):
        for quantity, figure in figures.items():
            values = {row.design: value for row in rows if row.system == system and (value := figure(row)) is not None}
            at = dict.fromkeys(row.measured for row in rows if row.system == system and row.design in values)
            if values:
                found.append(Series(quantity, system, [*values], [*values.values()], "executed", "; ".join(at), "here"))
    return found


def _rows(data: Path) -> list[Row]:
    return [Row(**row) for row in json.loads(data.read_text())] if data.is_file() else []


def keep(rows: Sequence[Row], data: Path = DATA) -> None:
    """Add rows, in place of those of the same design and system."""
    new = {(row.design, row.system): row for row in [*_rows(data), *rows]}
    data.write_text(json.dumps([asdict(row) for row in new.values()], indent=1) + "\n")


# Power ------------------------------------------------------------------------------------------------------------------


def power_reader(device: str) -> Callable[[], float] | None:
    """What reads the watts that `cuda[:N]` draws now; None where nothing does."""
    if not device.startswith("cuda"):
        return None
    card = card_of(device)
    return _by_library(card) or _by_program(card)


def card_of(device: str) -> str:
    """What NVIDIA's tools call the card: they count all of them in another order than CUDA, which may see some only."""
    import torch

    return f"GPU-{torch.cuda.get_device_properties(device).uuid}"


def _by_library(card: str) -> Callable[[], float] | None:
    """NVIDIA's, where it is installed and finds its driver."""
    try:
        import pynvml  # pyright: ignore[reportMissingImports]  # comes with the GPU's software, or not at all
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(card)
        pynvml.nvmlDeviceGetPowerUsage(handle)
    except pynvml.NVMLError:
        return None
    return lambda: pynvml.nvmlDeviceGetPowerUsage(handle) / 1e3


def _by_program(card: str) -> Callable[[], float] | None:
    command = ("nvidia-smi", f"--id={card}", "--query-gpu=power.draw", "--format=csv,noheader,nounits")

    def read() -> float:
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    try:
        read()
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    return read


@contextmanager
def sampled(read: Callable[[], float] | None) -> Generator[list[float]]:
    """Watts, sampled by a thread while the body runs; none without a reader."""
    samples, done = list[float](), threading.Event()

    def sample() -> None:
        while read is not None and not done.is_set():
            samples.append(read())
            done.wait(SAMPLE_SECONDS)

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


# Models -----------------------------------------------------------------------------------------------------------------


def load(model: str, device: str, dtype: str) -> Any:
    """The model on its device, in evaluation; CompileError for what is none, or not there."""
    import torch
    from transformers import AutoModelForCausalLM

    from stc.frontend.presets import find_preset

    if dtype not in DTYPES:
        raise CompileError(f"no dtype is called '{dtype}'", where="--dtype", accepted=", ".join(DTYPES))
    try:
        place = torch.device(device)
    except RuntimeError:
        raise CompileError(f"no device is called '{device}'", where="--device", accepted="cuda, cuda:N, or cpu") from None
    if place.type not in ("cuda", "cpu"):
        raise CompileError(f"{device} is not measured", where="--device", accepted="cuda, cuda:N, or cpu")
    if place.type == "cuda" and not torch.cuda.is_available():
        raise CompileError("PyTorch sees no CUDA device here", where="--device", accepted="a machine that has one, or --device cpu")
    if place.type == "cuda" and (place.index or 0) >= torch.cuda.device_count():
        what = f"PyTorch sees {torch.cuda.device_count()} CUDA devices"
        raise CompileError(what, where=f"--device {device}", accepted="the number of one of them, from 0")
    kind = getattr(torch, dtype)
    if (Path(model) / "config.json").is_file():
        try:
            found: Any = AutoModelForCausalLM.from_pretrained(model, local_files_only=True, dtype=kind)
        except (OSError, ValueError) as error:
            what = f"transformers cannot read it: {str(error).partition(chr(10))[0].rstrip('.')}"
            raise CompileError(what, where=model, accepted="a folder of transformers with its weights, or a preset") from None
    else:
        torch.manual_seed(0)
        found = AutoModelForCausalLM.from_config(find_preset(model).configuration(), dtype=kind)
    return found.to(place).eval()


def system_of(device: str, dtype: str) -> str:
    """What the rows call it: the GPU's name, or the machine's processor."""
    import torch

    if device.startswith("cuda"):
        name = torch.cuda.get_device_name(device)
    else:
        name = f"{platform.machine()} CPU, {torch.get_num_threads()} of {os.cpu_count()} threads"
    return f"{name} (PyTorch {torch.__version__.partition('+')[0]}, eager, {dtype})"


@dataclass(frozen=True)
class Run:
    """Seconds to the first and to the last token."""

    first: float
    last: float


def generate(model: Any, prompt: Any, tokens: int) -> Run:
    """Greedy, with a KV cache: the prompt in one pass, then token by token."""
    import torch

    def now() -> float:
        if prompt.is_cuda:
            torch.cuda.synchronize(prompt.device)
        return time.perf_counter()

    with torch.inference_mode():
        begin = now()
        out = model(prompt, use_cache=True, logits_to_keep=1)
        token = out.logits[:, -1:].argmax(-1)
        first = now()
        for _ in range(tokens - 1):
            out = model(token, past_key_values=out.past_key_values, use_cache=True, logits_to_keep=1)
            token = out.logits[:, -1:].argmax(-1)
        return Run(first - begin, now() - begin)


def measure(model: Any, name: str, length: int, device: str, dtype: str, repeat: int) -> Row:
    """One row; CompileError where the model has too few positions."""
    import torch

    positions = getattr(model.config, "max_position_embeddings", None)
    if positions is not None and 2 * length > positions:
        raise CompileError(f"{length} tokens behind a prompt of {length}", where=name, accepted=f"at most {positions // 2} each")
    generator = torch.Generator().manual_seed(length)
    prompt = torch.randint(model.config.vocab_size, (1, length), generator=generator).to(device)
    generate(model, prompt, length)
    with sampled(power_reader(device)) as samples:
        runs = [generate(model, prompt, length) for _ in range(repeat)]
    first, last = median(run.first for run in runs), median(run.last for run in runs)
    speed = median((length - 1) / (run.last - run.first) for run in runs)
    watts = fmean(samples) if samples else None
    at = measured_at().removeprefix("Measured on ").removesuffix(".")
    joules = None if watts is None else watts * last / length
    return Row(f"{name} [{length}:{length}]", system_of(device, dtype), 1e3 * first, speed, 1e3 * last, watts, joules, at)


def text(row: Row) -> str:
    """A line for a person."""
    power = "power not measured" if row.watts is None else f"{row.watts:.1f} W, {row.joules_per_token:.3g} J a token"
    times = f"first token {row.ttft_ms:.1f} ms, {row.tokens_per_second:.1f} tokens a second, last token {row.latency_ms:.1f} ms"
    return f"{row.design} on {row.system}: {times}, {power} (executed, {row.measured})"


def _count(given: str) -> int:
    if not given.isdecimal() or int(given) < 1:
        raise argparse.ArgumentTypeError(f"'{given}'; accepted: an integer from 1")
    return int(given)


def _length(given: str) -> int:
    if not given.isdecimal() or int(given) < 2:
        raise argparse.ArgumentTypeError(f"'{given}'; accepted: an integer from 2, so that there is a token behind the first")
    return int(given)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a preset, or a folder of transformers")
    parser.add_argument("--lengths", nargs="+", type=_length, default=LENGTHS, metavar="N", help="of prompts, and behind them")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N, or cpu (default: cuda)")
    parser.add_argument("--dtype", default="float16", help=f"of {', '.join(DTYPES)} (default: float16)")
    parser.add_argument("--repeat", type=_count, default=5, metavar="N", help="repetitions; their median counts (default: 5)")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--keep", action="store_true", help=f"add the rows to benchmarks/data/{DATA.name}")
    asked = parser.parse_args(arguments)
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    rows = list[Row]()
    try:
        for name in asked.models:
            model = load(name, asked.device, asked.dtype)
            for length in asked.lengths:
                rows.append(measure(model, Path(name).resolve().name, length, asked.device, asked.dtype, asked.repeat))
                if asked.keep:
                    keep(rows[-1:], DATA)
                print(text(rows[-1]), file=sys.stderr if asked.json else sys.stdout, flush=True)
    except CompileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except torch.OutOfMemoryError:
        what = f"it has no room for {asked.models[0]}" if len(asked.models) == 1 else "it has no room for one of the models"
        refused = CompileError(what, where=f"--device {asked.device}", accepted="a smaller model, --dtype, or --lengths")
        print(f"error: {refused}", file=sys.stderr)
        return 2
    if asked.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    sys.exit(main(sys.argv[1:]))
