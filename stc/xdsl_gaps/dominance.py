"""Use before definition: xDSL's verifier accepts it, so it is checked here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo


@dataclass(frozen=True)
class UseBeforeDefinition:
    """Operand `index` of `operation` is not defined where it is used."""

    operation: Operation
    index: int

    def __str__(self) -> str:
        value = self.operation.operands[self.index]
        name = f"operand {self.index}" if value.name_hint is None else f"%{value.name_hint}"
        return f"'{self.operation.name}' uses {name} where it is not defined, expected a value that dominates this use"


def uses_before_definition(top: Operation) -> Iterator[UseBeforeDefinition]:
    """Every operand under `top` that does not dominate its use, in the order of the text.

    Inside a block a value is visible after its definition, in nested regions too; across the blocks of a region, in the blocks
    that its block dominates.
    """
    visible: set[SSAValue] = set(top.operands)
    for region in top.regions:
        yield from _in_region(region, visible)


def _in_region(region: Region, visible: set[SSAValue]) -> Iterator[UseBeforeDefinition]:
    if len(region.blocks) == 1:
        yield from _in_block(region.block, visible)
        return
    dominance = DominanceInfo(region)
    for block in region.blocks:
        above: set[SSAValue] = set(visible)
        for other in region.blocks:
            if other is not block and dominance.strictly_dominates(other, block):
                above |= _defined_in(other)
        yield from _in_block(block, above)


def _defined_in(block: Block) -> set[SSAValue]:
    defined: set[SSAValue] = set(block.args)
    for operation in block.ops:
        defined.update(operation.results)
    return defined


def _in_block(block: Block, visible: set[SSAValue]) -> Iterator[UseBeforeDefinition]:
    """Check one block; `visible` grows while it is walked and is as before afterwards."""
    added: list[SSAValue] = list(block.args)
    visible.update(added)
    for operation in block.ops:
        for index, operand in enumerate(operation.operands):
            if operand not in visible:
                yield UseBeforeDefinition(operation, index)
        for region in operation.regions:
            yield from _in_region(region, visible)
        visible.update(operation.results)
        added += operation.results
    visible.difference_update(added)
