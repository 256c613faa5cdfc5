"""Utilisation: what multipliers and ports do over what they could have done, and what binds, of designs and runs made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import fifo, loop, manifest

from stc.manifest.schema import Manifest, MemoryTiming, Port, Scalar, Task, TaskResources, TaskWork
from stc.manifest.sizes import at_values
from stc.simulation.csim import CsimResult
from stc.simulation.simulation_result import MEMORY, FifoTime, SimulationResult, TaskTime, Wait
from stc.simulation.utilisation import Utilisation, estimated_utilisation, measured_utilisation

MULTIPLIES = TaskWork(products=160, at_once=16, dsp=80, moves={})


def port(name: str, words: int, bundle: str | None = None, bank: int = 0) -> Port:
    size = 64 * words
    return Port(name, "parameter", "read", "f32", 16, words, size, name, name, (16 * words,), None, bundle=bundle, bank=bank)


def design(work: TaskWork = MULTIPLIES, moves: dict[str, int] | None = None, *ports: Port) -> Manifest:
    """`load` reads words of 64 bytes, at 51.2 bytes a cycle, and `fc` multiplies, on 80 of its 100 DSPs."""
    moves = {"w": 6400} if moves is None else moves
    made = manifest([fifo("words", "load", "fc", 100)], [loop("load", "load_loop", 100), loop("fc", "fc_loop", 60)])
    (kernel,) = made.kernels
    load = Task("load", "load", None, tuple(moves), ("words",), work=TaskWork(0, 0, 0, moves))
    fc = Task("fc", "compute", None, ("words",), (), resources=TaskResources(100, 0, 0, 0, 0), work=work)
    kernel = replace(kernel, tasks=(load, fc), ports=ports or (port("w", 100),))
    return replace(made, kernels=(kernel,), memory=MemoryTiming(250.0, 100, 51.2, 16, 16, 0.0))


def estimated(cycles: int, made: Manifest) -> Utilisation:
    return estimated_utilisation(made, {"top": cycles}, "estimated")


def test_products_over_what_all_dsps_could_have_begun() -> None:
    """20 of the 100 DSPs multiply nothing: were they multipliers as well, there would be 20 products a cycle in place of 16."""
    use = estimated(200, design())
    assert (use.products, use.possible) == (160, 200 * 20)
    assert (use.bytes, use.possible_bytes) == (6400, pytest.approx(200 * 51.2))
    load, fc = use.tasks
    assert (load.moving, load.possible, load.bound_by) == (pytest.approx(125), 0, "the port of w")
    assert (fc.multiplying, fc.works, fc.bound_by) == (10, 60, "its loops")


def test_the_port_binds_where_it_has_most_to_do() -> None:
    use = estimated(200, design())
    assert use.binding == "in 10 of 200 cycles the multipliers of fc are busy: it is bound by the port of w, busy in 125 of 200"


def test_busy_multipliers_bind_themselves() -> None:
    use = estimated(200, design(replace(MULTIPLIES, products=1600)))
    assert use.binding == "in 100 of 200 cycles the multipliers of fc are busy: it is bound by them"


def test_where_nothing_is_busy_tasks_wait_for_one_another() -> None:
    binding = estimated(2000, design()).binding
    assert "no resource is busy for half of the time" in binding and binding.endswith("the port of w, 125 cycles")


def test_multipliers_of_luts_leave_no_dsp_idle() -> None:
    use = estimated(200, design(replace(MULTIPLIES, dsp=0)))
    assert use.possible == 0 and use.text.startswith("160 multiply-accumulates in LUTs; 6,400 bytes moved")


def test_ports_of_one_bundle_take_turns_and_those_of_one_channel_share_it() -> None:
    bundled = estimated(200, design(MULTIPLIES, {"w": 6400, "b": 640}, port("w", 100, "both"), port("b", 10, "both")))
    assert bundled.tasks[0].moving == pytest.approx(137.5)
    assert bundled.possible_bytes == pytest.approx(200 * 51.2)
    assert bundled.tasks[0].bound_by == "the port of w and 1 others"
    apart = estimated(200, design(MULTIPLIES, {"w": 6400, "b": 640}, port("w", 100), port("b", 10)))
    assert apart.tasks[0].moving == pytest.approx(137.5)   # as fast as the channel brings it
    assert apart.possible_bytes == pytest.approx(200 * 51.2)
    others = estimated(200, design(MULTIPLIES, {"w": 6400, "b": 640}, port("w", 100), port("b", 10, bank=1)))
    assert others.possible_bytes == pytest.approx(2 * 200 * 51.2)


def test_padding_takes_time_and_ports_of_no_known_bank_share_nothing() -> None:
    """Words of 64 bytes with 16 of padding each: as many words, in a quarter more time."""
    padded = [replace(port(name, 100), bytes=8000, bank=bank) for name, bank in (("w", 0), ("b", 0), ("w", None), ("b", None))]
    moves = {"w": 6400, "b": 640}
    together = estimated(400, design(MULTIPLIES, moves, *padded[:2]))
    assert together.tasks[0].moving == pytest.approx(110 * 80 / 51.2) and together.possible_bytes == pytest.approx(400 * 51.2)
    apart = estimated(400, design(MULTIPLIES, moves, *padded[2:]))
    assert apart.tasks[0].moving == pytest.approx(100 * 80 / 51.2) and apart.possible_bytes == pytest.approx(2 * 400 * 51.2)


def test_narrow_ports_of_a_wide_channel_have_what_both_move() -> None:
    narrow = [replace(port(name, 100), lanes=2, bytes=800) for name in ("w", "b")]
    use = estimated(200, design(MULTIPLIES, {"w": 800, "b": 80}, *narrow))
    assert use.tasks[0].moving == pytest.approx(100) and use.possible_bytes == pytest.approx(200 * 16)


def test_sizes_are_those_of_the_run() -> None:
    work = replace(MULTIPLIES, size="mul(pos<=10, 16)")
    made = design(work)
    kernel = replace(made.kernels[0], scalars=(Scalar("pos", "pos", "pos", 10),))
    load = replace(kernel.tasks[0], work=TaskWork(0, 0, 0, {"w": 6400}, sizes={"w": "mul(pos<=10, 640)"}))
    made = replace(made, kernels=(replace(kernel, tasks=(load, kernel.tasks[1])),))
    use = estimated(200, at_values(made, {"pos": 3}))
    assert (use.products, use.bytes) == (48, 1920)


def run(tasks: tuple[TaskTime, ...], cycles: int = 200) -> SimulationResult:
    values = CsimResult(
        passed=True, outcome="finished", explanation=None, outputs=[], channels=[], seconds=0.0, build_seconds=0.0, cached=True
    )
    words = FifoTime("words", 2, 100, 2, 0, 0, "load", "fc", (), ())
    return SimulationResult(values, {"top": (cycles,)}, None, 0, 250.0, tasks, (words,))


def test_a_run_that_waits_for_memory_is_bound_by_its_port() -> None:
    fc = TaskTime("fc", ((0, 200),), 140, 0, (Wait("words", True, 0, 140, 140),))
    load = TaskTime("load", ((0, 150),), 150, 0, (Wait(MEMORY, True, 0, 150, 150),))
    use = measured_utilisation(design(), run((load, fc)))
    assert use is not None and [task.bound_by for task in use.tasks] == ["the port of w", "reading words"]
    reason = "it is bound by the port of w, as load waits for external memory to deliver words, for 140 of them"
    assert use.binding == f"in 10 of 200 cycles the multipliers of fc are busy: {reason}"


def test_a_run_whose_loops_do_something_else_is_bound_by_these() -> None:
    fc = TaskTime("fc", ((0, 200),), 20, 0, (Wait("words", True, 0, 20, 20),))
    load = TaskTime("load", ((0, 150),), 0, 0, ())
    use = measured_utilisation(design(), run((load, fc)))
    assert use is not None and use.binding.endswith("it is bound by its other loops, for 170 of them")


def test_nothing_is_known_without_an_end_or_work() -> None:
    made = design()
    foreign = replace(made, kernels=tuple(replace(k, tasks=tuple(replace(t, work=None) for t in k.tasks)) for k in made.kernels))
    assert measured_utilisation(foreign, run(())) is None
    assert measured_utilisation(made, replace(run(()), ends={})) is None
