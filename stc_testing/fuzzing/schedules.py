"""Random ways to compile a program: options of the pipeline, with or without a search, and a schedule.toml for its generics."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from stc.analysis.generic_loops import GenericLoops, generics_in, name_of
from stc.pipeline import PipelineOptions
from stc.platforms.budget import PLAN, SMALL
from stc_testing.small import small_options

RANDOM = "random"
"""In place of a budget: another one for each program."""

BUDGETS = (PLAN, "dsp=60", "dsp=200", "dsp=400,ports=6", "dsp=2000,ports=8", "lut=20000", "lut=60000,ports=12", "dsp=60%,ports=29")
"""Little and much of what binds: multipliers, logic, memory ports."""

STRATEGIES = ("shortest", "balanced")
"""Of `choose-parallelism`, each for half of the programs."""


def random_options(numbers: random.Random, kernel_name: str) -> PipelineOptions:
    """Tile, rows, lanes, the rule for tiles and orders; one time in six a few KiB on chip, so that there are several groups."""
    return small_options(
        tile=numbers.choice([1, 2, 3, 4, 8, 16, 16]),
        rows=numbers.choice([1, 2, 4, 128, 128]),
        lanes=numbers.choice([1, 2, 3, 4, 8, 16, 16]),
        propagate_orders=numbers.random() < 0.7,
        on_chip=numbers.choice([512, 1024, 2048, 4096]) if numbers.random() < 1 / 6 else 0,
        kernel_name=kernel_name,
    )


def searched_options(numbers: random.Random, options: PipelineOptions, budget: str) -> PipelineOptions:
    """The same with a search within `budget` (RANDOM: any of BUDGETS), by either strategy; `options` for SMALL."""
    if budget == SMALL:
        return options
    chosen = numbers.choice(BUDGETS) if budget == RANDOM else budget
    return replace(options, budget=chosen, parallelism=numbers.choice(STRATEGIES))


def random_schedule(numbers: random.Random, module: ModuleOp) -> str:
    """A schedule.toml for some generics of a module that has gone through the linalg stage; empty for some."""
    share = numbers.choice([0, 0, 0.2, 0.6, 1])
    tables = [_table(numbers, name, GenericLoops(generic)) for generic in generics_in(module)
              if (name := name_of(generic)) is not None and numbers.random() < share]
    return "\n".join(tables)


def _table(numbers: random.Random, name: str, loops: GenericLoops) -> str:
    tile = [numbers.choice(divisors(extent)) for extent in loops.extents]
    order = numbers.sample(range(len(tile)), len(tile))
    lines = [f'["{name}"]', f"tile = {tile}", f"order = {order}"]
    if numbers.random() < 0.3:
        lines.append(f"unroll = {_unroll(numbers, tile)}")
    return "\n".join([*lines, ""])


def _unroll(numbers: random.Random, tile: Sequence[int]) -> list[int]:
    """One loop, or none, is computed in parallel by a divisor of its tile of at most 16."""
    unroll = [1] * len(tile)
    if tile:
        loop = numbers.randrange(len(tile))
        unroll[loop] = numbers.choice([divisor for divisor in divisors(tile[loop]) if divisor <= 16])
    return unroll


def divisors(extent: int) -> list[int]:
    return [divisor for divisor in range(1, extent + 1) if extent % divisor == 0]
