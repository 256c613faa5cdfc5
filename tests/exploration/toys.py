"""A problem that needs no model, and a process that searches it: `python toys.py STORAGE TRIALS [SECONDS each [LAST]]`.
With LAST the evaluation behind so many takes a minute, so that the process can be killed in the middle of a trial."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from stc.diagnostics import CompileError
from stc.exploration.problem import OBJECTIVES, Choice, Objectives, Point, point_of

LANES = Choice("lanes", (1, 2, 4, 8, 16, 32), 4, "points at once")
TILE = Choice("tile", (4, 8, 16), 16, "entries of a tile")
STYLE = Choice("style", ("stp", "flp"), "stp", "how loops wait", is_estimated=False)
MOST_DSP = 48
"""What the budget has."""


@dataclass
class Toy:
    """More lanes take fewer cycles and more DSPs; longer tiles more memory and fewer bytes moved; one combination is refused.
    `seconds`: what an evaluation takes, but for those behind the first `last`; `model`: what tells problems apart."""

    seconds: float = 0.0
    model: str = "toy"
    last: float = inf
    evaluated: int = 0
    simulated: list[Point] = field(default_factory=list[Point])

    @property
    def name(self) -> str:
        return self.model

    @property
    def objectives(self) -> Mapping[str, str]:
        return OBJECTIVES

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"model": self.model, "choices": {choice.name: list(choice.values) for choice in self.space}}

    @property
    def space(self) -> Sequence[Choice]:
        return [LANES, TILE, STYLE]

    def default(self) -> Point:
        return point_of(self.space, {})

    def seeds(self) -> Sequence[Point]:
        return [self.default(), {**self.default(), "lanes": 1}]

    def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
        time.sleep(self.seconds if self.evaluated < self.last else 60)
        self.evaluated += 1
        given = point_of(self.space, point)
        lanes, tile = int(given["lanes"]), int(given["tile"])
        if (lanes, tile) == (2, 4):
            raise CompileError("two lanes of four entries", accepted="others")
        dsp, late = 3 * lanes, 100 if given["style"] == "flp" else 0
        beyond = {"dsp": dsp - MOST_DSP} if dsp > MOST_DSP else {}
        if simulate:
            self.simulated.append(given)
            return Objectives(1024 // lanes + 7 + late, 8 * tile, dsp, 4096 // tile, "simulated", beyond)
        return Objectives(1024 // lanes, 4 * tile, dsp, 4096 // tile, "estimated", beyond)

    def schedules(self, point: Point) -> Mapping[str, str]:
        return {"schedule.toml": "".join(f"{name} = {value!r}\n" for name, value in point.items())}


if __name__ == "__main__":
    from stc.exploration.study import Exploration

    storage, trials, seconds, last, *_ = *sys.argv[1:], 0.0, inf
    try:
        Exploration(Toy(float(seconds), last=float(last)), str(storage)).estimate(int(trials))
    except CompileError as error:
        sys.exit(str(error))
