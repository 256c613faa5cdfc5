"""How far weights run ahead, ports and elements at each, against cycles of a launch: simulated where the design is given, and as
the fluid model has it (stc/design_space/fluid_model.py).

    python benchmarks/run_ahead.py DIR [--at pos=191] [--depths 16,64,256] [--json] [--write]

DIR is a decoder with an array (`stc compile MODEL --target decoder ...`, the folder of its decode stage). It is simulated with
other depths of the FIFOs between memory ports and elements, for which it is not built again. What each element waits for comes from
the run with the depths that the design has, and is all that the model knows of it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, log10
from pathlib import Path
from typing import Any, TypeAlias

from measured_at import measured_at, write_between
from rich.console import Console
from rich.table import Table

from stc.design_space.fluid_model import Launch, demands_of
from stc.design_space.parallelism import WORDS_AHEAD
from stc.manifest.schema import Kernel, Manifest, Stream
from stc.simulation.simulate import timed_design
from stc.simulation.simulation_result import SimulationResult
from stc.simulation.timing_table import SimulationOptions
from stc.tools.consoles import result_console
from stc.tools.simulate_command import read_values

DOCUMENT = Path(__file__).parents[1] / "docs" / "decode.md"
PICTURE = DOCUMENT.parent / "run_ahead.svg"
BEGIN, END = "<!-- run ahead -->\n", "<!-- end of run ahead -->\n"
DEPTHS = (2, 16, 64, 256, 512, 4096)
PORTS = (8, 12, 16, 20, 24, 28)
TIMEOUT = 1800.0


@dataclass(frozen=True)
class Element:
    """An element of the array: its task, the FIFO of its weights, `depth` words of so many `bits`, that of its activations, and
    words of a launch."""

    task: str
    weights: str
    factors: str
    words: int
    bits: int
    depth: int


def elements_of(kernels: Sequence[Kernel]) -> list[Element]:
    """All of them: tasks of a unit without ports that compute, from words that a load task sends and from activations."""
    found: list[Element] = []
    for kernel in kernels:
        kinds = {task.name: task.kind for task in kernel.tasks}
        into: dict[str, list[Stream]] = {}
        for stream in kernel.streams:
            into.setdefault(stream.consumer, []).append(stream)
        for task in (task for unit in kernel.units if not unit.ports for task in unit.tasks if kinds[task] == "compute"):
            streams = into.get(task, ())
            loaded = [one for one in streams if kinds[one.producer] == "load"]
            others = [one for one in streams if kinds[one.producer] != "load"]
            if len(loaded) == len(others) == 1 and loaded[0].bits >= others[0].bits:
                (weights,), (factors,) = loaded, others
                found.append(Element(task, weights.name, factors.name, weights.tokens, weights.bits, weights.depth))
    return found


def launch_of(result: SimulationResult, manifest: Manifest, elements: Sequence[Element]) -> Launch:
    """What the model knows: of the element that ends last, what it waited for; how fast a port is."""
    assert result.cycles is not None and manifest.memory is not None
    tasks = {task.name: task for task in result.tasks}
    last = max(elements, key=lambda each: tasks[each.task].end)
    task = tasks[last.task]
    waits = [(wait.begin, wait.end, wait.cycles, wait.channel == last.factors) for wait in task.waits]
    demands, speed = demands_of(task.begin, task.end, sorted(waits), last.words)
    rate = manifest.memory.channel_bytes_per_cycle * 8 / last.bits
    return Launch(demands, result.cycles - task.end, rate, speed, len(elements))


def measured(folder: Path, at: str, depths: Sequence[int]) -> dict[str, Any]:
    """Cycles by depth, as simulated and as the model has them, and what the model says of other arrays."""
    design = timed_design(folder)
    values = read_values([at])
    elements = elements_of(design.manifest.kernels)
    if not elements:
        sys.exit(f"{folder}: there is no array; accepted: a decoder compiled with --target decoder, or --contractions shared")
    own = max(each.depth for each in elements)

    def run(depth: int | None) -> SimulationResult:
        told = {} if depth is None else {each.weights: depth for each in elements}
        result = design.run(SimulationOptions(at=values, depths=told), TIMEOUT)
        assert result.cycles is not None, result.values.explanation
        return result

    usual = run(None)
    launch = launch_of(usual, design.manifest, elements)
    simulated = {own: usual.cycles, **{depth: run(depth).cycles for depth in depths if depth != own}}
    rows = [{"depth": depth, "simulated": simulated[depth], "model": launch.cycles(depth)} for depth in sorted(simulated)]
    arrays = [
        {"ports": ports, "elements_per_port": each, "depth": depth, "model": launch.with_array(ports, each).cycles(depth)}
        for each in (1, 2) for ports in sorted({*PORTS, launch.ports}) for depth in (own, WORDS_AHEAD)
    ]  # fmt: skip
    return {
        "design": folder.name, "at": at, "origin": "simulated; model: fluid, with gaps of the simulated run", "own_depth": own,
        "ports": launch.ports, "rate": launch.rate, "speed": launch.speed, "measured": measured_at(),
        "depths": rows, "arrays": arrays,
    }  # fmt: skip


def tables_of(found: dict[str, Any]) -> list[Table]:
    by_depth = Table("words in front of each element", "cycles (simulated)", "cycles (model)", title="Depth of run-ahead")
    for row in found["depths"]:
        by_depth.add_row(f"{row['depth']:,}", f"{row['simulated']:,}", f"{row['model']:,.0f}")
    arrays = Table("ports", "elements at each", "words in front of each", "cycles (model)", title="Ports, and elements at each")
    for row in found["arrays"]:
        told = (row["ports"], row["elements_per_port"], row["depth"])
        arrays.add_row(*(f"{number:,}" for number in told), f"{row['model']:,.0f}")
    return [by_depth, arrays]


def markdown_of(found: dict[str, Any]) -> str:
    lines = ["| words in front of each element | cycles (*simulated*) | cycles (model) |", "| --- | --- | --- |"]
    lines += [f"| {row['depth']:,} | {row['simulated']:,} | {row['model']:,.0f} |" for row in found["depths"]]
    lines += ["", "| ports | cycles with one element at each (model) | with two (model) |", "| --- | --- | --- |"]
    arrays = {(row["ports"], row["elements_per_port"]): row["model"] for row in found["arrays"] if row["depth"] == WORDS_AHEAD}
    lines += [f"| {ports} | {arrays[ports, 1]:,.0f} | {arrays[ports, 2]:,.0f} |" for ports, each in arrays if each == 1]
    return "\n".join([*lines, "", f"In the second table {WORDS_AHEAD:,} words run ahead. {found['measured']}", ""])


# The picture ----------------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, EDGE, GAP = 260, 200, 56, 40
BLUE, RED, GREY = "#1f5fa8", "#b03030", "#444"
Point: TypeAlias = tuple[float, str, float, float | None]
"""Where it is, what is written there, cycles by the model, and simulated."""


def picture_of(found: dict[str, Any]) -> str:
    """Three panels: depth of run-ahead, ports, elements at each port; a line for the model, points for what was simulated."""
    own, ports = found["own_depth"], found["ports"]
    by_depth = [(log2(row["depth"]), f"{row['depth']:,}", row["model"], row["simulated"]) for row in found["depths"]]
    simulated = {row["depth"]: row["simulated"] for row in found["depths"]}[own]
    one = [row for row in found["arrays"] if row["elements_per_port"] == 1 and row["depth"] == own]
    by_ports = [(row["ports"], str(row["ports"]), row["model"], simulated if row["ports"] == ports else None) for row in one]
    each = [row for row in found["arrays"] if row["ports"] == ports and row["depth"] == WORDS_AHEAD]
    counts = [(row["elements_per_port"], row["model"]) for row in each]
    by_elements = [(count, str(count), model, simulated if count == 1 else None) for count, model in counts]
    panels: dict[str, Sequence[Point]] = {
        "words ahead of each element": by_depth, "ports that bring weights": by_ports, "elements at each port": by_elements
    }  # fmt: skip
    most = max(figure for points in panels.values() for point in points for figure in point[2:] if figure)
    wide, high = EDGE + len(panels) * (WIDTH + EDGE), HEIGHT + EDGE + GAP
    told = f"Cycles of a launch at {found['at']}; line: fluid model; points: simulated"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="11">',
        "<title>Cycles of a launch by depth of run-ahead, ports, and elements at each port</title>",
        f'<rect width="{wide}" height="{high}" fill="white"/>',
        *(_panel(title, points, most, EDGE + number * (WIDTH + EDGE)) for number, (title, points) in enumerate(panels.items())),
        f'<text x="{EDGE}" y="{high - 8}" fill="{GREY}">{told}</text>', "</svg>", "",
    ])  # fmt: skip


def _panel(title: str, points: Sequence[Point], most: float, left: int) -> str:
    bottom, first, last = GAP + HEIGHT, points[0][0], points[-1][0]

    def place(x: float, y: float) -> tuple[float, float]:
        return left + 10 + (x - first) / ((last - first) or 1) * (WIDTH - 20), bottom - y / most * HEIGHT * 0.95

    lines = [f'<text x="{left + WIDTH / 2}" y="{GAP - 14}" text-anchor="middle" font-weight="bold">{title}</text>']
    lines.append(f'<path d="M{left} {GAP}V{bottom}H{left + WIDTH}" fill="none" stroke="{GREY}"/>')
    for cycles in _ticks(most):
        y = place(first, cycles)[1]
        lines.append(f'<text x="{left - 4}" y="{y + 3:.0f}" text-anchor="end" font-size="9">{cycles:,}</text>')
    until = 0.0
    for x, mark, *_ in points:
        if (across := place(x, 0)[0]) >= until:  # else it would lie over the one before
            lines.append(f'<text x="{across:.0f}" y="{bottom + 14}" text-anchor="middle" font-size="9">{mark}</text>')
            until = across + 30
    path = " ".join("{:.1f},{:.1f}".format(*place(x, model)) for x, _, model, _ in points)
    lines.append(f'<polyline points="{path}" fill="none" stroke="{BLUE}" stroke-width="2"/>')
    for x, _, _, simulated in points:
        if simulated is not None:
            across, up = place(x, simulated)
            lines.append(f'<circle cx="{across:.1f}" cy="{up:.1f}" r="4" fill="{RED}"/>')
    return "\n".join(lines)


def _ticks(most: float) -> range:
    """Round numbers up to `most`: two to five."""
    digit = 10 ** int(log10(most))
    step = next(digit * part // 10 for part in (2, 5, 10, 20) if most < 5 * digit * part / 10)
    return range(step, int(most) + 1, step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--at", default="pos=191", help="position of the token (default: pos=191)")
    parser.add_argument("--depths", default=",".join(map(str, DEPTHS)), help="words in front of each element")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--write", action="store_true", help="write docs/decode.md and docs/run_ahead.svg")
    asked = parser.parse_args()
    found = measured(asked.folder, asked.at, [int(depth) for depth in asked.depths.split(",")])
    if asked.write:
        write_between(DOCUMENT, BEGIN, markdown_of(found), END)
        PICTURE.write_text(picture_of(found))
    if asked.json:
        print(json.dumps(found, indent=1))
        return
    console: Console = result_console()
    for table in tables_of(found):
        console.print(table)


if __name__ == "__main__":
    main()
