"""What is checked again behind a pass is enough: whatever a pass breaks is found as by the whole check."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, f64, i8
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.dialects.preconditions import unfit_for_passes
from stc.dialects.reverification import Reverification
from stc.pipeline import run_stages, stages
from stc_testing.drawn import seeds
from stc_testing.small import small_options

EXAMPLE = Path(__file__).parents[2] / "examples" / "linear_relu.mlir"
CHANGES = 16
"""Of each module."""


@pytest.fixture(scope="module")
def levels() -> list[ModuleOp]:
    """A program behind each stage, and as it came."""
    module = parse_module(EXAMPLE.read_text())
    found = [module.clone()]
    for stage in stages(small_options()):
        run_stages(module, make_context(), [stage])
        found.append(module.clone())
    return found


@pytest.mark.heavy
@pytest.mark.parametrize("level", range(8))
def test_a_broken_rule_is_found(levels: list[ModuleOp], level: int) -> None:
    checks, found = Reverification(), 0
    assert checks.unfit_for_passes(levels[level]) is None
    for seed in seeds(CHANGES):
        rng = random.Random(seed)
        module = levels[level].clone()
        assert checks.unfit_for_passes(module) is None  # another module: all of it is new
        _change(module, rng)
        expected = unfit_for_passes(module)
        assert str(checks.unfit_for_passes(module)) == str(expected), seed
        assert str(checks.unfit_for_passes(module)) == str(expected), seed  # what was broken before is so again
        found += expected is not None
    assert found > CHANGES // 4


def test_what_stands_in_an_operation_may_break_a_rule_of_it(levels: list[ModuleOp]) -> None:
    """A body yields an integer, which only the operation around it refuses."""
    module, checks = levels[1].clone(), Reverification()
    assert checks.unfit_for_passes(module) is None
    last = next(operation for operation in module.walk() if isinstance(operation, linalg.YieldOp))
    wrong = arith.ConstantOp(IntegerAttr(1, i8))
    Rewriter.insert_op(wrong, InsertPoint.before(last))
    last.operands[0] = wrong.result
    violation = checks.unfit_for_passes(module)
    assert violation is not None and violation.operation is last.parent_op() and "yields (i8)" in violation.sentence


def test_what_has_not_changed_is_not_checked(levels: list[ModuleOp], monkeypatch: pytest.MonkeyPatch) -> None:
    module, checks = levels[-1], Reverification()
    seen: list[Operation] = []
    monkeypatch.setattr("stc.dialects.reverification._check", seen.append)
    assert checks.unfit_for_passes(module) is None
    assert {*map(_read, seen)} == {*map(_read, module.walk())}
    told = ("arith", "math", "memref", "vector")  # where what is alike is checked once
    others = [operation for operation in module.walk() if operation.name.partition(".")[0] not in told]
    assert {*map(id, others)} <= {*map(id, seen)} and len(seen) < len([*module.walk()])
    seen.clear()
    assert checks.unfit_for_passes(module) is None
    assert not seen


def _read(operation: Operation) -> object:
    types = [*(value.type for value in operation.operands), None, *(value.type for value in operation.results)]
    return operation.name, tuple(types), tuple(operation.properties.items()), tuple(operation.attributes.items())


def _change(module: ModuleOp, rng: random.Random) -> None:
    """One thing that a faulty pass may do to one operation, or to one block argument."""
    operations = [operation for operation in module.walk() if operation is not module]
    operation = rng.choice(operations)
    blocks = [block for region in operation.regions for block in region.blocks]
    everywhere = [*module.walk_blocks()]
    match rng.randrange(8):
        case 0 if operation.operands:
            values = [value for other in operations for value in other.results]
            operation.operands[rng.randrange(len(operation.operands))] = rng.choice(values)
        case 1 if operation.properties:
            del operation.properties[rng.choice(sorted(operation.properties))]
        case 2 if operation.properties:
            of_others = [value for other in operations for value in other.properties.values()]
            operation.properties[rng.choice(sorted(operation.properties))] = rng.choice(of_others)
        case 3 if operation.results:
            types = [f64, i8, *(value.type for other in operations for value in other.results)]
            _retype(rng.choice(operation.results), rng.choice(types))
        case 4 if blocks and blocks[0].args:
            _retype(rng.choice(blocks[0].args), rng.choice([argument.type for block in everywhere for argument in block.args]))
        case 5:
            target = rng.choice([block for block in everywhere if not operation.is_ancestor(block)])
            operation.detach()
            target.insert_op_before(operation, target.first_op) if target.first_op is not None else target.add_op(operation)
        case 6 if not any(result.uses for result in operation.results):
            operation.detach()
            operation.erase()
        case _:
            operation.attributes[f"stc.{rng.choice(['unroll', 'kind', 'unknown'])}"] = StringAttr("wrong")


def _retype(value: SSAValue, kind: Attribute) -> None:
    Rewriter.replace_value_with_new_type(value, kind)

