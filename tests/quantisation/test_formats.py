"""What `--quantize` says, and what is refused."""

from __future__ import annotations

import pytest

from stc.diagnostics import CompileError
from stc.quantisation.formats import DTYPES, LinearFormat, of_part, read_quantisation, with_formats

LAYERS = ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")


def test_everything_is_said_once():
    text = "bits=4, group=32,scale=bf16,activations=group,except=attn,mlp.c_proj.bits=8,mlp.c_proj.group=row"
    found = read_quantisation(text)
    assert found.format_of("mlp.c_fc") == LinearFormat(4, 32, "bf16", "group")
    assert found.format_of("mlp.c_proj") == LinearFormat(8, 0, "bf16", "group")
    assert found.format_of("attn.c_attn") is None and found.format_of("attn2.c_attn") is not None
    found.require_known(LAYERS)


def test_the_longest_path_counts():
    found = read_quantisation("mlp.group=8,mlp.c_fc.group=16")
    assert [found.format_of(layer).group for layer in LAYERS] == [0, 0, 16, 8]  # pyright: ignore[reportOptionalMemberAccess]


@pytest.mark.parametrize("length, group, expected", [(37, 32, (2, 32)), (64, 32, (2, 32)), (16, 32, (1, 16)), (37, 0, (1, 37))])
def test_groups(length: int, group: int, expected: tuple[int, int]):
    assert LinearFormat(group=group).groups(length) == expected


def test_a_row_that_i32_has_no_room_for_is_refused():
    """Of 2^18 terms 127 * 127 the sum would wrap around."""
    assert LinearFormat(group=2**17).groups(2**18) == (2, 2**17)
    with pytest.raises(CompileError, match="group=row of a reduction of 131073 terms; accepted: group=1 to 131072"):
        LinearFormat().groups(2**17 + 1)


def test_the_head_has_a_format_of_its_own():
    said = {"bits=4,group=32": (4, 32), "bits=4,group=32,head=8": (8, 32), "bits=4,head=8,lm_head.group=16": (8, 16)}
    for text, (bits, group) in said.items():
        assert read_quantisation(text).format_of("lm_head") == LinearFormat(bits, group)
    assert read_quantisation("bits=4,group=32,head=8").format_of("mlp.c_fc") == LinearFormat(4, 32)
    assert read_quantisation("head=f32").format_of("lm_head") is None


@pytest.mark.parametrize(
    ("text", "layers", "head"),
    [
        ("", "", ""),
        ("bits=4,head=8,kv=int8", "bits=4,head=8,kv=int8", "bits=4,head=8"),
        ("mlp.bits=4, except=lm_head,except=attn.c_proj", "mlp.bits=4,except=attn.c_proj", ""),
        ("except=attn,except=mlp", "", "bits=8"),
        ("kv=bf16", "kv=bf16", ""),
        ("kv=int8,attention=int8", "kv=int8,attention=int8", ""),
        ("kv=bf16,lm_head.bits=4", "bits=8,kv=bf16", "lm_head.bits=4"),
        ("except=attn,except=mlp,kv=int8,head=f32", "except=attn,except=mlp,kv=int8,head=f32", ""),
    ],
)
def test_what_concerns_a_part(text: str, layers: str, head: str):
    assert of_part(text, LAYERS, has_cache=True) == layers
    assert of_part(text, ("lm_head",), has_cache=False) == head


def test_what_is_said_of_caches_alone_leaves_layers_in_f32():
    for text in ("kv=bf16", "kv=int8,attention=int8"):
        assert [read_quantisation(text).format_of(layer) for layer in (*LAYERS, "lm_head")] == [None] * 5
    assert read_quantisation("kv=bf16,head=4").format_of("mlp.c_fc") == LinearFormat(8)


@pytest.mark.parametrize(
    ("text", "formats", "expected"),
    [
        ("bits=8", {"attn": LinearFormat(8), "lm_head": LinearFormat(8)}, "bits=8"),
        ("bits=8,kv=int8", {"attn.c_proj": None}, "bits=8,kv=int8,except=attn.c_proj"),
        ("bits=4,head=8,except=attn", {"lm_head": None, "attn": None}, "bits=4,except=attn,except=lm_head"),
        ("kv=int8", {"a": LinearFormat(4, 2)}, "bits=f32,kv=int8,a.bits=4,a.group=2,a.scale=f16,a.activations=token"),
        ("", {"attn": None}, ""),
        ("attn.bits=4,attn.group=2", {"attn": None}, "except=attn"),
        ("attn.bits=4", {"attn.c_proj": None}, "attn.bits=4,except=attn.c_proj"),
    ],
)
def test_formats_of_single_layers(text: str, formats: dict[str, LinearFormat | None], expected: str) -> None:
    """Only what differs is said, in place of what was said of that layer."""
    found = with_formats(text, formats)
    assert found == expected
    assert {path: read_quantisation(found).format_of(path) for path in formats} == formats


def test_a_layer_below_an_excepted_path_has_no_format() -> None:
    with pytest.raises(CompileError, match=r"'attn\.c_proj' is excepted \('attn'\) and has a format of its own"):
        read_quantisation(with_formats("except=attn", {"attn.c_proj": LinearFormat()}))


def test_layers_stay_unless_more_is_said() -> None:
    chosen = read_quantisation("bits=f32,group=4,mlp.scale=bf16,head=4")
    assert chosen.format_of("attn.c_proj") is None
    assert chosen.format_of("mlp.c_fc") == LinearFormat(8, 4, "bf16") and chosen.format_of("lm_head") == LinearFormat(4, 4)


@pytest.mark.parametrize("one", [LinearFormat(), LinearFormat(4, 128, "bf16", "group")])
def test_a_format_is_read_as_it_is_written(one: LinearFormat) -> None:
    assert LinearFormat.read(str(one), "here") == one and LinearFormat.read("f32", "here") is None


def test_dtypes_are_formats():
    assert [read_quantisation(text).default for text in DTYPES.values()] == [LinearFormat(8), LinearFormat(4, 128)]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("bits=3", "--quantize: 'bits=3'; accepted: bits=4, bits=8, bits=f32"),
        ("mlp.bits=f32", "'mlp.bits=f32'; accepted: bits=4, bits=8"),
        ("bit=4", "'bit=4'; accepted: bits=..., group=..., scale=..., activations=..., kv=..., attention=..., head=..., "),
        ("group=0", "'group=0'; accepted: group=1 to 131072, or group=row"),
        ("group=many", "'group=many'"),
        ("group=\u00b2", "'group=\u00b2'; accepted: group=1 to 131072"),
        ("scale=f32", "accepted: scale=f16, scale=bf16"),
        ("activations=tensor", "accepted: activations=token, activations=group"),
        ("w4a8", "'w4a8'"),
        ("except=", "'except='"),
        ("bits=4,bits=8", "'bits' is said twice"),
        ("head=f32,lm_head.group=4", "both head=f32 and lm_head.group; accepted: one of both"),
        ("head=8,lm_head.bits=4", "both head=8 and lm_head.bits; accepted: one of both"),
        ("except=lm_head,head=4", "layer 'lm_head' is excepted ('lm_head') and has a format of its own; accepted: one of both"),
        ("mlp.except=mlp", "'mlp.except=mlp'"),
        ("mlp.head=8", "'mlp.head=8'; accepted: bits=..., group=..., scale=..., activations=..., except=PATH"),
        ("except=mlp,mlp.c_fc.bits=4", "layer 'mlp.c_fc' is excepted ('mlp') and has a format of its own; accepted: one of both"),
    ],
)
def test_what_is_refused(text: str, complaint: str):
    with pytest.raises(CompileError) as error:
        read_quantisation(text)
    assert complaint in str(error.value)


@pytest.mark.parametrize("text", ["except=mlp.c_fx", "mlp.c_fx.bits=4"])
def test_an_unknown_layer_is_named_with_near_ones(text: str):
    with pytest.raises(CompileError, match=r"no linear layer is called 'mlp\.c_fx', did you mean 'mlp\.c_fc'"):
        read_quantisation(text).require_known(LAYERS)
