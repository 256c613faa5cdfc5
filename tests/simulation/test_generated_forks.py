"""Random fork-join designs at random depths: the named fix fixes, one less does not; slow ones name the FIFO that costs cycles."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from generated_forks import TOKENS, generate
from handmade import Handmade

from stc.simulation.explanation import Explanation, explain
from stc.simulation.slowness import Slowness, slow_because
from stc.simulation.task_graphs import all_fifos, task_graphs

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module", params=[0, 2, 5])
def generated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, headers: Path) -> Handmade:
    """Designs that need more than single slots."""
    design = generate(request.param)
    return Handmade(design.kernel, design.manifest, tmp_path_factory.mktemp("forks"), headers)


def explained(design: Handmade, depths: Mapping[str, int]) -> Explanation | None:
    return explain(design.manifest, design.run(depths).values, lambda change: design.run({**depths, **change}).values)


def slowed(design: Handmade, depths: Mapping[str, int], reference: Mapping[str, int]) -> Slowness | None:
    runs = design.run(depths), design.run(reference)
    return slow_because(all_fifos(design.manifest), depths, *runs, lambda change: design.run({**depths, **change}))


def test_the_fix_fixes_and_one_less_does_not(generated: Handmade) -> None:
    choice = random.Random(7)
    names = [stream.name for stream in generated.manifest.kernels[0].streams]
    for most in (1, 2, 3, 4, 5):
        depths = {name: choice.randint(1, most) for name in names}
        found = explained(generated, depths)
        if found is None:
            assert most > 1
            continue
        assert found.cause == "depth" and found.searched and found.fixes, found.text
        for fix in found.fixes:
            assert generated.ends({**depths, **fix.depths})
            for name, depth in fix.depths.items():
                assert depth > depths[name]
                assert not generated.ends({**depths, **fix.depths, name: depth - 1})


def test_where_no_wait_cycle_is_possible_it_ends(generated: Handmade) -> None:
    """Of random depths, many of them of all tokens: a design that hangs has a FIFO that may be full in a wait-for cycle."""
    choice = random.Random(11)
    (kernel,) = generated.manifest.kernels
    proved = hung = 0
    for roomy in (0.5, 0.7, 0.8, 0.9) * 10:
        depths = {s.name: TOKENS if choice.random() < roomy else choice.randint(1, 2) for s in kernel.streams}
        streams = tuple(replace(stream, depth=depths[stream.name]) for stream in kernel.streams)
        (network,) = task_graphs(replace(generated.manifest, kernels=(replace(kernel, streams=streams),)))
        if list(network.full_in_wait_cycles()):
            hung += not generated.ends(depths)
            continue
        proved += 1
        assert all(generated.run(depths, style=style).values.outcome == "finished" for style in ("flp", "stp"))
    assert proved > 3 and hung > 0


def test_a_fifo_one_below_its_least_depth_is_named(generated: Handmade) -> None:
    """Depths minimised one after the other until none can be less: then one less of any hangs or is slower, and is named."""
    names = [stream.name for stream in generated.manifest.kernels[0].streams]
    depths = dict.fromkeys(names, TOKENS)
    cycles = generated.run(depths).cycles
    for name in names:
        depths[name] = next(d for d in range(1, TOKENS + 1) if generated.run({**depths, name: d}).cycles == cycles)
    for name in (name for name in names if depths[name] > 1):
        fewer = {**depths, name: depths[name] - 1}
        found = explained(generated, fewer) or slowed(generated, fewer, depths)
        assert found is not None and name in found.culprits, found


def test_every_fifo_that_saves_cycles_alone_is_named(generated: Handmade) -> None:
    """At random depths, against roomy FIFOs and against a run whose own writers wait: as found by enlarging one after the other."""
    choice = random.Random(5)
    names = [stream.name for stream in generated.manifest.kernels[0].streams]
    roomy = dict.fromkeys(names, TOKENS)
    compared = 0
    for most in (2, 4, 8, TOKENS) * 3:
        depths = {name: choice.randint(1, most) for name in names}
        now = generated.run(depths).cycles
        if now is None:
            continue
        alone = {name: generated.run({**depths, name: TOKENS}).cycles for name in names if depths[name] < TOKENS}
        saved = {name: now - cycles for name, cycles in alone.items() if cycles is not None and cycles < now}
        best = min(saved, key=lambda name: -saved[name], default=names[0])
        for reference in (roomy, {**depths, best: TOKENS}):
            found = slowed(generated, depths, reference)
            if found is None:
                continue
            compared += 1
            single = {next(iter(cause.depths)): cause.saved for cause in found.causes if len(cause.depths) == 1}
            assert single == saved and found.searched
            for cause in found.causes:
                enough = generated.run({**depths, **cause.depths}).cycles
                assert enough is not None and now - enough >= min(cause.saved, found.lost)
    assert compared > 1
