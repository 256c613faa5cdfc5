"""Blocks of decoder families in f32, W8A8 and W4A8: bytes of weights and scales, and cycles, beside each other.

    python benchmarks/quantised_blocks.py [--model gpt2] [--stage decode] [--seq 32] [--tile 64] [--folder DIR] [--json] [--write]

Each block is compiled at full size with the same options, and simulated with time, which also compares its values with the
reference of its arithmetic. Bytes are *counted*: what a launch reads through ports of parameters. Weights and scales are those that
a quantised design does not read as f32; of the f32 design, what it reads beyond the parameters that stay f32 (norms, biases).
Cycles are *simulated*: of the emitted C++, with estimated depths of loops. A token: a launch of the decode block is one, of the
prefill block `--seq`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from decode_block import bytes_at
from measured_at import measured_at, write_between

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.manifest.schema import Manifest
from stc.pipeline import PipelineOptions
from stc.quantisation.formats import DTYPES
from stc.simulation.simulate import timed_design
from stc.tools.compile import CompileRequest, compile_model

DOCUMENT = Path(__file__).parents[1] / "docs" / "quantisation.md"
BEGIN, END = "<!-- quantised blocks -->\n", "<!-- end of quantised blocks -->\n"
MODELS = ("gpt2", "gpt2-medium", "qwen2.5-0.5b", "qwen3-0.6b", "tinyllama-1.1b", "llama-3.2-1b", "gemma3-1b")
FORMATS = {"f32": "", **DTYPES}
MAX_SEQ = 128


@dataclass(frozen=True)
class Row:
    """One block in one arithmetic. `weights`: bytes of weights and scales that a launch reads; `agrees`: with its reference."""

    model: str
    stage: str
    dtype: str
    weights: int
    cycles: int
    agrees: bool


@dataclass(frozen=True)
class Block:
    """A compiled block: bytes of parameters that a launch reads, all of them and those that are f32."""

    parameters: int
    of_f32: int
    cycles: int
    agrees: bool


def measure(model: str, stage: str, seq: int, tile: int, folder: Path) -> Iterator[Row]:
    """A block in each arithmetic."""
    blocks = {dtype: _block(model, stage, seq, tile, text, folder / f"{model}-{stage}-{dtype}") for dtype, text in FORMATS.items()}
    for dtype, block in blocks.items():
        stays = block.of_f32 if dtype != "f32" else blocks["w8a8"].of_f32
        yield Row(model, stage, dtype, block.parameters - stays, block.cycles, block.agrees)


def _block(model: str, stage: str, seq: int, tile: int, quantize: str, out: Path) -> Block:
    if not (out / "manifest.json").is_file():
        options = PipelineOptions(tile=tile, quantize=quantize)
        request = CompileRequest(model, stage=stage, seq=seq, options=options, max_seq=MAX_SEQ if stage == "decode" else None)
        compile_model(request, out)
    run = timed_design(out).run(report=None)
    assert run.cycles is not None, f"no end: {out}"
    every, of_f32 = _parameter_bytes(read_manifest(out))
    return Block(every, of_f32, run.cycles, run.values.passed)


def _parameter_bytes(manifest: Manifest) -> tuple[int, int]:
    """What a launch reads of parameters, and of those of f32."""
    ports = {port.name: port for kernel in manifest.kernels for port in kernel.ports if port.kind == "parameter"}
    moved = {name: count for name, count in bytes_at(manifest, {}).items() if name in ports}
    return sum(moved.values()), sum(count for name, count in moved.items() if ports[name].element_type == "f32")


def markdown(rows: Sequence[Row]) -> str:
    """The table."""
    lines = [
        f"Blocks at full size, with the same options (W4A8: `{FORMATS['w4a8']}`): bytes of weights and scales that a launch reads,",
        "*counted*; cycles *simulated* (`python benchmarks/quantised_blocks.py`).",
        measured_at(),
        "",
        "| block | arithmetic | bytes of weights and scales | of f32's | of int8's | cycles | of f32's | values |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        beside = {each.dtype: each for each in rows if (each.model, each.stage) == (row.model, row.stage)}
        f32, int8 = beside["f32"], beside["w8a8"]
        shares = f"{row.weights / f32.weights:.3f} | {row.weights / int8.weights:.3f}"
        cycles = f"{row.cycles:,} | {row.cycles / f32.cycles:.2f} | {'agree' if row.agrees else 'differ'}"
        lines.append(f"| {row.model}, {row.stage} | {row.dtype} | {row.weights:,} | {shares} | {cycles} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", help="a preset; may be repeated (default: all full-size families)")
    parser.add_argument("--stage", action="append", choices=("decode", "prefill"), help="may be repeated (default: both)")
    parser.add_argument("--seq", type=int, default=32, help="tokens of the prefill block")
    parser.add_argument("--tile", type=int, default=64, help="as of stc compile (default 64)")
    parser.add_argument("--folder", type=Path, help="keep the projects here, or take those that are")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--write", action="store_true", help="write the table into docs/quantisation.md")
    arguments = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        for model in arguments.model or MODELS:
            for stage in arguments.stage or ("decode", "prefill"):
                try:
                    rows += measure(model, stage, arguments.seq, arguments.tile, arguments.folder or Path(temporary))
                except CompileError as error:
                    print(f"{model}, {stage}: {error}", file=sys.stderr)
                    return 2
    print(json.dumps([asdict(row) for row in rows], indent=1) if arguments.json else markdown(rows))
    if arguments.write:
        write_between(DOCUMENT, BEGIN, markdown(rows), END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
