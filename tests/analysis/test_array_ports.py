"""The ports that arrays need, from what their loops do at their intervals; and rule 14, where an array has others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.emission_rules import emission_violations
from stc.analysis.storage import LocalArray, storables
from stc.dialects.facts import STORAGE
from stc.dialects.parsing import parse_module
from stc.iteration.storage import ARRAY_MEMORIES, ArrayStorage, BankAccesses, Ports
from stc.platforms.platform import load_platform

LOADS = ["%v{} = memref.load %x[%i, %c{}] : memref<64x5xf32>\n", "memref.store %f, %x[%i, %c{}] : memref<64x5xf32>\n"]


def design(loops: Sequence[tuple[int, int, int]], partition: str = "") -> ModuleOp:
    """A task that accesses an array of 64 x 5 in loops: so many loads, so many stores, the interval."""
    text = ""
    for loads, stores, interval in loops:
        accesses = [LOADS[0].format(n, n) for n in range(loads)] + [LOADS[1].format(n) for n in range(loads, loads + stores)]
        text += f"scf.for %i = %c0 to %c64 step %c1 {{\n{''.join(accesses)}}} {{stc.pipeline = {interval} : i32}}\n"
    constants = "".join(f"%c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 4, 64))
    return parse_module(f"""func.func @f() {{ dataflow.kernel @k() {{ dataflow.task @t ins() outs() {{
      {constants} %f = arith.constant 1.0 : f32
      %x = memref.alloc() {partition} : memref<64x5xf32>
      {text} dataflow.yield }} dataflow.yield }} func.return }}""", "d.mlir")


def array(module: ModuleOp) -> LocalArray:
    (found,) = storables(module)
    assert isinstance(found, LocalArray)
    return found


@pytest.mark.parametrize(
    ("loops", "ports"),
    [
        ([(1, 0, 1)], "ram_s2p"),
        ([(1, 1, 1)], "ram_s2p"),
        ([(2, 0, 1)], "ram_2p"),
        ([(0, 2, 1)], "ram_t2p"),
        ([(2, 2, 2)], "ram_s2p"),                 # one each in a cycle
        ([(3, 1, 2)], "ram_2p"),
        ([(1, 3, 2)], "ram_t2p"),
        ([(0, 1, 1), (2, 0, 1)], "ram_2p"),       # filled, then read twice
        ([(2, 0, 1), (0, 2, 1), (1, 1, 1)], "ram_t2p"),
        ([], "ram_s2p"),
    ],
)
def test_ports_are_what_loops_need(loops: list[tuple[int, int, int]], ports: Ports) -> None:
    found = array(design(loops))
    assert (found.name, found.bits, found.words, found.banks, found.ports) == ("t.x", 32, 320, 1, ports)
    assert found.allowed == tuple(memory for memory in ARRAY_MEMORIES[ports] if memory != "lutram")  # 320 words are too deep


@pytest.mark.parametrize(("partition", "words", "banks"), [("[[1, 0]]", 64, 5), ("[[1, 2]]", 192, 2), ("[[0, 0], [1, 3]]", 2, 192)])
def test_lanes_in_banks_of_their_own(partition: str, words: int, banks: int) -> None:
    """Two of three columns share a bank: the other bank is not full, and no smaller."""
    found = array(design([(1, 0, 1)], f"{{stc.partition = {partition}}}"))
    assert (found.words, found.banks) == (words, banks)
    assert array(design([(5, 0, 1)], "{stc.partition = [[1, 0]]}")).ports == "ram_s2p"
    assert array(design([(2, 0, 1)], "{stc.partition = [[0, 2]]}")).ports == "ram_2p"


def test_registers_are_no_memory() -> None:
    assert array(design([(5, 0, 1)], "{stc.partition = [[0, 0], [1, 0]]}")).allowed == ()


def test_rule_14_knows_the_ports() -> None:
    platform = load_platform("u55c")
    for loops, fitting in (([(2, 0, 1)], {"ram_2p", "ram_t2p"}), ([(0, 2, 1)], {"ram_t2p"}), ([(1, 1, 1)], {*ARRAY_MEMORIES})):
        for ports in ARRAY_MEMORIES:
            module = design(loops)
            STORAGE.put(array(module).op, ArrayStorage(ports, "bram"))
            found = [violation.message for violation in emission_violations(module, platform) if violation.rule == 14]
            assert bool(found) is (ports not in fitting), (loops, ports)
            assert all(message.endswith(f"to a bank of x, which is {ports}") for message in found)


@pytest.mark.parametrize("interval", [1, 2, 3])
@pytest.mark.parametrize("loads", range(5))
@pytest.mark.parametrize("stores", range(5))
def test_the_ports_that_are_needed_suffice_and_less_do_not(loads: int, stores: int, interval: int) -> None:
    accesses = BankAccesses(loads, stores, loads + stores)
    order: tuple[Ports, ...] = ("ram_s2p", "ram_2p", "ram_t2p")
    needed = accesses.ports(interval)
    assert accesses.fit(needed, interval) is (loads + stores <= 2 * interval)
    assert not any(accesses.fit(ports, interval) for ports in order[: order.index(needed)])
