"""Wrong rewrites of what only decoders have: an array that contractions share, layers in a launch, units and scalars sent to
them, a cache that is appended to, scales of groups.

As in `faults.py`, each fault changes the module right after one pass, and the first that complains has caught it: the verifiers,
the proofs, the rest of the compile up to the emission rules, the execution before and after.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from faults import EXAMINATIONS, Fault, Verdict, all_of, constant_before, give_depth, judged, swap_operands, task
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.emission_rules import check_emission_rules
from stc.dialects import stream
from stc.dialects.context import make_context
from stc.dialects.itensor import MergeOp
from stc.dialects.parsing import parse_module
from stc.pipeline import PipelineOptions, Step, part, stages, steps
from stc.platforms.platform import load_platform
from stc.tools.check_semantics import SemanticsCheck
from stc.transforms.stream.set_fifo_depths import SetFifoDepths
from stc_testing.small import small_options

Change: TypeAlias = Callable[[ModuleOp], None]

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


@dataclass(frozen=True)
class Design:
    """A module and the passes that it takes."""

    text: str
    options: PipelineOptions
    first: str = ""

    @property
    def steps(self) -> list[Step]:
        return part(steps(stages(self.options)), first=self.first)


def _appended() -> str:
    """The cache of examples/append.mlir, all of whose rows are read, whatever the position: before the new one is written."""
    text = (EXAMPLES / "append.mlir").read_text().replace("pos<=7] * [1, 1]", "8] * [1, 1]")
    text = text.replace("itensor.size pos<=7 of %at", "arith.constant 8 : index").replace(", %at = %pos : !pos", "")
    return text.replace("into %cache at [0, %pos, 0]", "into %cache at [0, %pos, 0] after read")


LAYER = (HERE / "layer.mlir").read_text()
TWO_LAYERS = small_options(units="memory", layers=2, schedule=str(HERE / "layer.toml"))
SHARED = small_options(weight_ports="in-turn", contractions="shared")

DESIGNS = {
    "array": Design((HERE / "array.mlir").read_text(), SHARED, "share-contractions"),
    "layers": Design(LAYER, TWO_LAYERS),
    "layer loop": Design((EXAMPLES / "layer_loop.mlir").read_text(), small_options(), "set-fifo-depths"),
    "rows so far": Design((EXAMPLES / "append.mlir").read_text(), small_options(units="memory"), "flatten-tasks"),
    "all rows": Design(_appended(), small_options(units="memory"), "flatten-tasks"),
    "groups": Design(LAYER, small_options(quantize="bits=4,group=8")),
}


@dataclass(frozen=True)
class DecoderFault(Fault):
    """`caught_by`: who is expected to complain first."""

    design: str
    caught_by: str


FAULTS: list[DecoderFault] = []


def fault(design: str, after: str, caught_by: str, place: str) -> Callable[[Change], Change]:
    """Register a change; its name is the function's."""

    def register(change: Change) -> Change:
        FAULTS.append(DecoderFault(change.__name__, after, place, change, design, caught_by))
        return change

    return register


def examine(seeded: DecoderFault) -> Verdict:
    """Compile up to the fault, seed it, and see who complains."""
    design = DESIGNS[seeded.design]
    module = parse_module(design.text)
    check = SemanticsCheck(0)
    check.begin(module)
    for number, step in enumerate(design.steps):
        step.one_pass.apply(make_context(), module)
        check.after(step.label, module)
        check.has_depths = check.has_depths or step.label == SetFifoDepths.name
        if step.label == seeded.after:
            seeded.change(module)
            return judged(seeded, module, check, _examinations(design.steps[number + 1 :]))
    raise AssertionError(f"no pass {seeded.after}")


def _examinations(rest: Sequence[Step]) -> dict[str, Callable[[Fault, ModuleOp, SemanticsCheck], None]]:
    def compile_on(_: Fault, module: ModuleOp, check: SemanticsCheck) -> None:
        compiled = module.clone()
        for step in rest:
            step.one_pass.apply(make_context(), compiled)
        check_emission_rules(compiled, load_platform("u55c"))

    names = ("type system", "proof")
    return {name: EXAMINATIONS[name] for name in names} | {"compile": compile_on, "execution": EXAMINATIONS["execution"]}


# Phase order exchanged in one unit only --------------------------------------------------------------------------------


@fault("array", "share-contractions", "compile", "array_hand_out waits to read token 6 of 12 of 'array_sums'")
def sums_are_handed_out_to_the_second_contraction_first(module: ModuleOp) -> None:
    _exchange_phases(module, "array_hand_out", 1)


@fault("array", "share-contractions", "compile", "array_send waits to read token 0 of 6 of 'q'")
def factors_of_the_second_contraction_are_sent_first(module: ModuleOp) -> None:
    _exchange_phases(module, "array_send", 2)


@fault("array", "share-contractions", "execution", "pass 'share-contractions' changes what the module computes: result 0 (y)")
def weights_of_the_second_contraction_come_first(module: ModuleOp) -> None:
    _exchange_phases(module, "load", 1)


def _exchange_phases(module: ModuleOp, name: str, nests: int) -> None:
    """Let a task do last what it did first; a phase is so many nests of loops."""
    body = task(module, name).body.block
    assert body.last_op is not None
    phases = [op for op in body.ops if isinstance(op, scf.ForOp)]
    assert len(phases) == 2 * nests
    for nest in phases[:nests]:
        nest.detach()
        body.insert_op_before(nest, body.last_op)


# First port not rotated ------------------------------------------------------------------------------------------------


@fault("layers", "split-ports", "type system", "'itensor.merge' op token 0 of input 0 is at [0, 16], expected [0, 0]")
def the_ports_of_a_tensor_take_turns_from_the_second_on(module: ModuleOp) -> None:
    merge = all_of(module, MergeOp)[0]
    swap_operands(merge, 0, 1)


@fault("layers", "hoist-constants", "execution", "pass 'hoist-constants' changes what the module computes: result 0 (y)")
def the_mover_takes_the_second_stripe_first(module: ModuleOp) -> None:
    first, second = all_of(_turn(module, TAKES), stream.ReadOp)
    first.operands[0], second.operands[0] = second.stream, first.stream


SENDS, TAKES = 0, 1


def _turn(module: ModuleOp, number: int) -> scf.ForOp:
    """Of the mover: what it does for each layer, a nest that sends and one that takes."""
    around = [op for op in all_of(task(module, "move_x"), scf.ForOp) if all_of(op, stream.ReadOp) and all_of(op, stream.WriteOp)]
    (layers,) = [op for op in around if len([one for one in op.body.block.ops if isinstance(one, scf.ForOp)]) == 2]
    return [op for op in layers.body.block.ops if isinstance(op, scf.ForOp)][number]


# A header token lost ---------------------------------------------------------------------------------------------------


@fault("rows so far", "send-scalars", "compile", "rule 1: @total_pos: @send_scalars writes 0 tokens but @total reads 1")
def a_scalar_is_not_sent(module: ModuleOp) -> None:
    Rewriter.erase_op(all_of(task(module, "send_scalars"), stream.WriteOp)[0])


@fault("rows so far", "send-scalars", "type system", "'itensor.size' op operand 'symbols'")
def a_number_takes_the_place_of_a_scalar(module: ModuleOp) -> None:
    total = task(module, "total")
    (read,) = [op for op in all_of(total, stream.ReadOp) if op.stream.name_hint == "total_pos"]
    read.result.replace_all_uses_with(constant_before(read, 7))
    Rewriter.erase_op(read)


# A credit removed ------------------------------------------------------------------------------------------------------


@fault("all rows", "lower-dmas", "compile", "rule 5: @store_u writes %cache before @load_cache has read it")
def an_append_does_not_wait_for_the_rows_before(module: ModuleOp) -> None:
    Rewriter.erase_op(all_of(task(module, "store_u"), stream.ReadOp)[0])
    Rewriter.erase_op(all_of(task(module, "load_cache"), stream.WriteOp)[-1])


@fault("all rows", "lower-dmas", "compile", "rule 5: @store_u writes %cache before @load_cache has read it")
def an_append_waits_when_it_has_been_made(module: ModuleOp) -> None:
    body = task(module, "store_u").body.block
    assert body.last_op is not None
    wait = all_of(task(module, "store_u"), stream.ReadOp)[0]
    wait.detach()
    body.insert_op_before(wait, body.last_op)


@fault("all rows", "lower-dmas", "compile", "rule 5: @store_u writes %cache before @load_cache has read it")
def the_rows_before_are_said_to_be_read_too_early(module: ModuleOp) -> None:
    load = task(module, "load_cache")
    sent, nest = all_of(load, stream.WriteOp)[-1], next(op for op in load.body.block.ops if isinstance(op, scf.ForOp))
    token = sent.value.owner
    assert isinstance(token, arith.ConstantOp)
    for op in (token, sent):
        op.detach()
        load.body.block.insert_op_before(op, nest)


@fault("layers", "hoist-constants", "compile", "move_x waits to read token 0")
def the_mover_waits_for_a_layer_before_it_sends_its_input(module: ModuleOp) -> None:
    take, send = _turn(module, TAKES), _turn(module, SENDS)
    take.detach()
    assert send.parent is not None
    send.parent.insert_op_before(take, send)


# Loop storage one word short -------------------------------------------------------------------------------------------


@fault("layer loop", "size-fifos", "execution", "@kept")
def the_copies_of_a_layer_are_one_word_short(module: ModuleOp) -> None:
    give_depth(module, "kept", 7)


@fault("layers", "hoist-constants", "proof", "in @move_x of @main")
def the_mover_holds_one_word_less(module: ModuleOp) -> None:
    (held,) = all_of(task(module, "move_x"), memref.AllocOp)
    Rewriter.replace_value_with_new_type(held.memref, MemRefType(held.memref.type.element_type, [2 * 32 - 1]))


# Scales of the neighbouring pair ---------------------------------------------------------------------------------------


@fault("groups", "lower-dmas", "execution", "pass 'lower-dmas' changes what the module computes: result 0 (y)")
def each_pair_of_rows_gets_the_scales_of_the_next(module: ModuleOp) -> None:
    """Of 4 words the last one gets the first: no index leaves the array."""
    (load,) = all_of(task(module, "load_scale0"), memref.LoadOp)
    next_one = _one_further(load)
    wrapped = arith.RemUIOp(next_one.result, constant_before(load, 4))
    Rewriter.insert_op(wrapped, InsertPoint.before(load))
    load.operands[1] = wrapped.result


@fault("groups", "lower-dmas", "proof", "in @load_scale0")
def scales_begin_one_word_too_far(module: ModuleOp) -> None:
    (load,) = all_of(task(module, "load_scale0"), memref.LoadOp)
    _one_further(load)


def _one_further(load: memref.LoadOp) -> arith.AddiOp:
    moved = arith.AddiOp(load.indices[0], constant_before(load, 1))
    Rewriter.insert_op(moved, InsertPoint.before(load))
    load.operands[1] = moved.result
    return moved


def main() -> int:
    """Print a verdict per fault."""
    verdicts = [examine(entry) for entry in FAULTS]
    for verdict in verdicts:
        print(f"{verdict.caught_by or 'NOT CAUGHT':14} {verdict.fault} (after {verdict.after}): {verdict.message}")
    return 1 if any(verdict.caught_by is None for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
