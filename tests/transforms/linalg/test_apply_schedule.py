"""Every way in which a `schedule.toml` can be wrong is named, with what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.transforms.linalg.apply_schedule import ApplySchedule

PROGRAM = """
func.func @main(%x: tensor<4x12xf32>) -> tensor<4x12xf32> {
  %e = tensor.empty() : tensor<4x12xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x12xf32>) outs(%e : tensor<4x12xf32>) attrs = {stc.name = "act"} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x12xf32>
  func.return %y : tensor<4x12xf32>
}"""

REFUSALS = {
    "[gelu]\ntile = [4, 4]": "no op is called 'gelu'; accepted: act",
    "[act]\ntile = [4, 4]\ntiles = [1]": "[act]: unknown field 'tiles'; accepted: tile, order, unroll, vector",
    "[act]\norder = [0, 1]": "[act]: no field 'tile'; accepted: tile, order, unroll, vector",
    "[act]\ntile = [4]": "[act]: tile is [4]; accepted: a list of 2 integers, one per loop",
    "[act]\ntile = 4": "[act]: tile is 4; accepted: a list of 2 integers, one per loop",
    "[act]\ntile = [4, true]": "[act]: tile is [4, True]; accepted: a list of 2 integers, one per loop",
    "[act]\ntile = [4, 4]\norder = [0]": "[act]: order is [0]; accepted: a list of 2 integers, one per loop",
    "[act]\ntile = [4, 4]\nunroll = [1, 1, 1]": "[act]: unroll is [1, 1, 1]; accepted: a list of 2 integers, one per loop",
    "[act]\ntile = [4, 4]\nvector = [4]": "[act]: vector is [4]; accepted: a list of integer lists, one per operand",
    "[act]\ntile = [4, 4]\nvector = [[1, 4]]": "act: schedule has 1 vector shapes; accepted: one for each of 2 operands",
    "[act]\ntile = [4, 4]\nvector = [[1, 4], [1, 3]]":
        "act: vector shape [1, 3] of operand 1; accepted: 1, L with L a divisor of the tile's 4 entries",
    "[act]\ntile = [4, 4]\nvector = [[4, 1], [1, 4]]":
        "act: vector shape [4, 1] of operand 0; accepted: 1, L with L a divisor of the tile's 4 entries",
    "[act]\ntile = [4, 4]\norder = [0, 0]": "[act]: schedule has order [0, 0], expected each of the loops 0 to 1 once",
    "[act]\ntile = [4, 4]\nunroll = [1, 0]": "[act]: schedule has unroll factor 0 for loop 1, expected at least 1",
    "[act]\ntile = [4, 4]\nunroll = [1, 3]": "[act]: unroll 3 of loop 1 does not divide its tile 4; accepted: one of 1, 2, 4",
    "[act]\ntile = [4, 4]\nunroll = [8, 1]": "[act]: unroll 8 of loop 0 does not divide its tile 4; accepted: one of 1, 2, 4",
    "[act]\ntile = [4, 5]": "act: tile 5 of loop 1 does not divide its extent 12; accepted: one of 1, 2, 3, 4, 6, 12",
    "[act]\nadders = 'fast'": "[act]: adders is 'fast'; accepted: dsp, lut",
    "[act]\nadders = 'lut'": "[act]: adders is 'lut', and no floats are added; accepted: computations with additions of floats",
    "act = 3": "'act' is no table; accepted: [act] with tile, order, unroll, vector",
    "[act": "schedule is not TOML",
}


def apply(path: Path) -> None:
    ApplySchedule(str(path)).apply(make_context(), parse_module(PROGRAM))


@pytest.mark.parametrize("text", REFUSALS)
def test_schedule_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "schedule.toml"
    path.write_text(text)
    with pytest.raises(CompileError) as refusal:
        apply(path)
    assert REFUSALS[text] in str(refusal.value)


def test_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"schedule cannot be read \(No such file or directory\); accepted: a TOML file"):
        apply(tmp_path / "none.toml")
