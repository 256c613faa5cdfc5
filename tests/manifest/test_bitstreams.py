"""What the host loads, keeps and restores between kernels in bitstreams of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from stc.diagnostics import CompileError
from stc.manifest.bitstreams import with_bitstreams
from stc.manifest.files import from_json, to_json
from stc.manifest.schema import (
    SCHEMA_VERSION,
    Bitstream,
    HostTensor,
    Kernel,
    Manifest,
    Order,
    OrderCoordinate,
    OrderLoop,
    Port,
    Step,
)

ORDER = Order((1,), (OrderLoop(16, 1),), (OrderCoordinate((0,), 0),))
Kind = Literal["input", "parameter", "output", "intermediate"]


def port(name: str, kind: Kind, buffer: str, tensor: str = "", *, writes: bool = False, updates: str | None = None) -> Port:
    order, shape = (ORDER, (16,)) if tensor else (None, ())
    direction = "write" if writes else "read"
    return Port(name, kind, direction, "f32", 16, 1, 64, buffer, tensor or buffer, shape, order, updates=updates)


def kernel(name: str, *ports: Port) -> Kernel:
    return Kernel(name, ports, (), (), (), ())


def steps(*actions: tuple[str, ...]) -> tuple[Step, ...]:
    return tuple(Step(*action) for action in actions)  # pyright: ignore[reportArgumentType]


def three() -> Manifest:
    """x -> a -> h; h -> b -> g; x, h, g -> c -> y, where c also updates h."""
    kernels = (
        kernel("a", port("x", "input", "x", "x"), port("h", "intermediate", "h", writes=True)),
        kernel("b", port("h2", "intermediate", "h"), port("g", "intermediate", "g", writes=True)),
        kernel("c", port("x2", "input", "x", "x"), port("h3", "intermediate", "h"), port("g2", "intermediate", "g"),
               port("h4", "intermediate", "h", writes=True, updates="h3"), port("y", "output", "y", "y", writes=True)),
    )
    tensors = (HostTensor("x", "input", "f32", (16,)), HostTensor("y", "output", "f32", (16,)))
    done = steps(("pack", "a", "x", "x"), ("launch", "a"), ("launch", "b"), ("launch", "c"), ("unpack", "c", "y", "y"))
    return Manifest(SCHEMA_VERSION, "three", "u55c", kernels, tensors, done, 1e-4, {}, {}, {})


def told(manifest: Manifest) -> list[str]:
    return [" ".join(filter(None, (step.action, step.port or step.kernel, step.words))) for step in manifest.steps]


def test_a_device_that_loads_in_turn_loses_its_memory() -> None:
    each = with_bitstreams(three(), cards=False)
    assert told(each) == [
        "load a", "pack x", "keep x x", "launch a", "keep h h",
        "load b", "restore h2 h", "launch b", "keep g g",
        "load c", "restore x2 x", "restore h3 h", "restore g2 g", "launch c", "unpack y",
    ]
    assert each.takes_turns and each.cards == 1 and from_json(to_json(each), "three") == each
    assert [{port.buffer for port in kernel.ports} for kernel in each.kernels] == [{"x", "h"}, {"h2", "g"}, {"x2", "h3", "g2", "y"}]
    assert each.links_note == ("not modelled, and in no cycles: 3 loads of a bitstream a run and 4 buffers (256 bytes) that go "
                               "through the host between 3 bitstreams")


def test_cards_keep_what_they_have() -> None:
    """b reads h twice: it is sent once; a launches again on what it has."""
    manifest = three()
    again = replace(manifest, steps=(*manifest.steps[:3], Step("launch", "b"), *manifest.steps[3:], Step("launch", "a")))
    cards = with_bitstreams(again, cards=True)
    assert told(cards) == [
        "pack x", "keep x x", "launch a", "keep h h", "restore h2 h", "launch b", "launch b", "keep g g",
        "restore x2 x", "restore h3 h", "restore g2 g", "launch c", "unpack y", "launch a",
    ]
    assert not cards.takes_turns and cards.bitstreams == tuple(Bitstream(name, at, f"card{at}") for at, name in enumerate("abc"))
    assert "loads" not in (cards.links_note or "loads")


def test_one_kernel_is_one_bitstream() -> None:
    alone = replace(three(), kernels=three().kernels[:1], steps=three().steps[:2])
    assert with_bitstreams(alone, cards=True) is alone and alone.notes == ()


@pytest.mark.parametrize(("broken", "complaint"), [
    ({"bitstreams": (Bitstream("a"),)}, "field 'bitstreams' is not one for each kernel, in their order; accepted: a, b, c"),
    ({"steps": (*steps(("launch", "a")), Step("restore", "b", "h2", words="h"))}, "field 'steps[1].words' "),
])
def test_manifests_that_contradict_themselves(broken: dict[str, object], complaint: str) -> None:
    wrong = replace(with_bitstreams(three(), cards=False), **broken)
    with pytest.raises(CompileError) as refusal:
        from_json(to_json(wrong), "three")
    assert complaint in str(refusal.value)
