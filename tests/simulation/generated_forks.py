"""Random designs of forks and joins, nested and in series, in which every fork and join moves groups of tokens of its own size."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from handmade import fifo, manifest

from stc.manifest.schema import Manifest, Stream

TOKENS = 24


@dataclass
class ForkJoin:
    """A design under construction: its tasks as C++, and its FIFOs. `top` takes (x, y)."""

    choice: random.Random
    functions: list[str] = field(default_factory=list[str])
    calls: list[str] = field(default_factory=list[str])
    streams: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    ends: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def kernel(self) -> str:
        names = ", ".join(f'{name}("{name}")' for name in self.ends)
        header = ['extern "C" void top(const int *x, int *y) {', "#pragma HLS dataflow", f"  hls::stream<int, 2> {names};"]
        return "\n".join([*self.functions, *header, *(f"  {call}" for call in self.calls), "}", ""])

    @property
    def manifest(self) -> Manifest:
        return manifest([self.stream(name) for name in self.ends])

    def stream(self, name: str) -> Stream:
        producer, consumer = self.ends[name]
        return fifo(name, producer, consumer, TOKENS)

    def channel(self) -> str:
        name = f"s{len(self.ends)}"
        self.ends[name] = []
        return name

    def task(self, reads: list[str], writes: list[str], body: str, more: str = "", argument: str = "") -> None:
        name = f"t{len(self.functions)}"
        for channel in (*reads, *writes):
            self.ends[channel].append(name) if channel in reads else self.ends[channel].insert(0, name)
        parameters = ", ".join([f"hls::stream<int> &{channel}" for channel in (*reads, *writes)] + ([more] if more else []))
        self.functions.append(f"static void {name}({parameters}) {{\n{body}}}")
        self.calls.append(f"{name}({', '.join([*reads, *writes] + ([argument] if argument else []))});")

    def groups(self, *statements: str) -> str:
        """One loop per statement over a group of tokens, the groups one after the other; or all in one loop."""
        size = self.choice.choice([1, 2, 3, 4, 6, 8])
        loops = "".join(
            f"    for (int k = 0; k < {size}; k++) {{\n#pragma HLS pipeline II=1 style=flp\n      {statement}\n    }}\n"
            for statement in (statements if self.choice.random() < 0.7 else (" ".join(statements),))
        )
        return f"  for (int i = 0; i < {TOKENS}; i += {size}) {{\n    int held[{size}] = {{}};\n{loops}  }}\n"

    def block(self, source: str, levels: int) -> str:
        """Tasks that read `source`; the channel they write."""
        if levels == 0 or self.choice.random() < 0.15:
            target = self.channel()
            self.task([source], [target], self.groups(f"{target}.write({source}.read());"))
            return target
        first, second = self.channel(), self.channel()
        self.task([source], [first, second],
                  self.groups(f"held[k] = {source}.read(); {first}.write(held[k]);", f"{second}.write(held[k]);"))
        ends = self.block(first, levels - 1), self.block(second, levels - 1) if self.choice.random() < 0.5 else second
        target = self.channel()
        self.task(list(ends), [target], self.groups(f"held[k] = {ends[0]}.read();", f"{target}.write(held[k] + {ends[1]}.read());"))
        return self.block(target, levels - 1) if self.choice.random() < 0.4 else target


def generate(seed: int) -> ForkJoin:
    design = ForkJoin(random.Random(seed))
    first = design.channel()
    design.task([], [first], design.groups(f"{first}.write(x[i + k]);"), "const int *x", "x")
    last = design.block(first, 2)
    design.task([last], [], design.groups(f"y[i + k] = {last}.read();"), "int *y", "y")
    return design
