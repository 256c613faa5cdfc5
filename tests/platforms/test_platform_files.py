"""Platform files: ours against the totals of data sheets, and every kind of file that is refused, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.platforms.adapters import adapter_bram18, adapter_width
from stc.platforms.budget import Budget
from stc.platforms.platform import Resources, load_platform, platform_names, read_platform

KV260 = load_platform("kv260").text
WHERE = "mine.toml"

DATA_SHEETS = {
    "u55c": (1_303_680, 2_607_360, 2016, 960, 9024, 460e9, 16 << 30),
    "u280": (1_303_680, 2_607_360, 2016, 960, 9024, 460e9, 8 << 30),
    "v80": (2_574_208, 5_148_416, 3741, 1925, 10848, 819.2e9, 32 << 30),
    "kv260": (117_120, 234_240, 144, 64, 1248, 19.2e9, 4 << 30),
}
"""LUTs, flip-flops, BRAM36, URAM, DSPs, bytes a second and bytes of each device's data sheet (V80: product brief)."""


def test_every_platform_has_its_data_sheet_here() -> None:
    assert set(platform_names()) == set(DATA_SHEETS)


@pytest.mark.parametrize("name", platform_names())
def test_totals_are_those_of_the_data_sheet_less_the_shell(name: str) -> None:
    platform, (lut, ff, bram36, uram, dsp, peak, size) = load_platform(name), DATA_SHEETS[name]
    assert platform.name == name
    whole, memory = platform.whole, platform.memory
    for found, total in ((whole.lut, lut), (whole.ff, ff), (whole.bram36, bram36), (whole.uram, uram), (whole.dsp, dsp)):
        assert 0.85 * total <= found <= total
    assert memory.peak_bytes_per_second() == pytest.approx(peak, rel=1e-3)
    assert memory.sustained_bytes_per_second(platform.cycle_ns) <= peak
    assert memory.channels * memory.channel_bytes in (size, size // 2)  # half where DDR is shared with the processor


SOURCE = re.compile(r"\b(UG|DS|PG|AM|WP)\d+|AVED|SLASH|AMR documents|RapidStream|FCCM|FPT|MICRO|tutorial|https?://|assumed|estimated|remembered")
"""A document, or a word that says that there is none."""


def without_source(text: str) -> list[str]:
    """The lines of a platform file that say no source, neither themselves nor, where they have no comment, above their paragraph.

    Names need none. All dies are one paragraph.
    """
    found: list[str] = []
    for paragraph in re.split(r"\n\n(?!\[\[slr)", text):
        above = " ".join(line for line in paragraph.splitlines() if line.startswith("#"))
        for line in paragraph.splitlines():
            if not re.match(r"\w+ = ", line) or re.match("(name|kind) = ", line):
                continue
            own = line.partition("#")[2]
            if not SOURCE.search(own or above):
                found.append(line)
    return found


@pytest.mark.parametrize("name", platform_names())
def test_every_figure_says_its_source(name: str) -> None:
    assert without_source(load_platform(name).text) == []


def test_a_figure_without_source_is_found() -> None:
    text = "# As published.\n[memory]\nchannels = 32\nslr = 0 # the lowest\ntags = 32 # PG313\n\n# assumed\n[plan]\nlut = 1\n"
    assert without_source(text) == ["channels = 32", "slr = 0 # the lowest"]


def test_what_differs_is_data() -> None:
    u55c, u280, v80, kv260 = (load_platform(name) for name in ("u55c", "u280", "v80", "kv260"))
    assert [platform.memory.word_bits for platform in (u55c, u280, v80, kv260)] == [512, 512, 256, 128]
    assert u55c.memory.tag_of(5, 17) == "HBM[5]" and v80.memory.tag_of(5, 17) == "HBM11"
    assert [kv260.memory.tag_of(0, port) for port in range(5)] == ["HP0", "HP1", "HP2", "HP3", "HP0"]
    assert kv260.memory.all_tags == {"HP0", "HP1", "HP2", "HP3"} and len(v80.memory.all_tags) == 64
    # The DDR4 sustains 14.4 GB/s, its four ports a word of 16 bytes each in a cycle of 5 ns.
    assert kv260.memory.channel_bytes_per_cycle(5.0) == 64 and kv260.memory.channel_bytes_per_cycle(2.5) == 36
    assert u55c.memory.channel_bytes_per_cycle(4.0) == pytest.approx(53.2)


def test_ends_of_channels_are_those_of_their_names() -> None:
    """Each name that a port of a channel may be linked to leads to that channel."""
    for name in platform_names():
        memory = load_platform(name).memory
        assert {memory.tag_of(channel, port): channel for channel in range(memory.channels) for port in range(memory.tags)} == (
            memory.channel_of
        )


def test_power_is_linear_in_what_is_used_and_moved() -> None:
    power = load_platform("kv260").power
    assert power is not None
    none, half = Resources(0, 0, 0, 0, 0), Resources(0.5, 0.5, 0.5, 0.5, 0.5)
    assert power.watts(none, 0) == 5 and power.watts(none, 10e9) == pytest.approx(5 + 1.6)
    assert power.watts(half, 10e9) == pytest.approx(5 + 1.6 + (1.8 + 0.7 + 0.6 + 0.3 + 2.2) / 2)


@pytest.mark.parametrize("name", platform_names())
def test_a_full_card_stays_below_its_limit(name: str) -> None:
    platform = load_platform(name)
    assert platform.power is not None
    assert platform.power.watts(Resources(1, 1, 1, 1, 1), platform.memory.peak_bytes_per_second()) < platform.power.most_watts


def test_a_file_without_power_is_whole() -> None:
    assert read_platform(KV260.partition("\n[power]")[0], WHERE).power is None


def test_the_fastest_clock_counts_in_any_order() -> None:
    unsorted = read_platform(changed(r"\[200, 150, 100\]", "[100, 200, 150]"), WHERE)
    assert unsorted.clock_mhz == 200 and unsorted.cycle_ns == 5.0


def test_adapters_are_no_wider_than_ports() -> None:
    assert [adapter_width(33, widest) for widest in (512, 256, 128)] == [256, 256, 128]
    assert adapter_bram18(64, 128) == 8 and adapter_bram18(64) == 16 and adapter_bram18(512) == 30
    assert load_platform("kv260").memory.adapter_bram18 == 8


def test_a_budget_of_the_small_one() -> None:
    limits = Budget.parse("plan").limits(load_platform("kv260"))
    assert (limits.dsp, limits.lut, limits.bram, limits.uram, limits.ports) == (998, 91_200, 230, 51, 32)


# What is refused ------------------------------------------------------------------------------------------------------


def changed(pattern: str, new: str, count: int = 1) -> str:
    text, found = re.subn(pattern, new, KV260, count=count, flags=re.MULTILINE)
    assert found, pattern
    return text


BAD = {
    "unknown key": (r"^name = ", "colour = 1\nname = ", "unknown key colour; accepted: name, part, shell"),
    "unknown key of a die": (r"^lut = 114000", "lutt = 114000", "unknown key slr[0].lutt; accepted: lut, ff"),
    "unknown key of the memory": (r"^tags = ", "banks = ", "unknown key memory.banks; accepted: kind, channels"),
    "missing key": (r"^launch_us.*$", "", "launch_us is missing; accepted: a number above 0"),
    "missing resource": (r"^dsp = 1248", "", "slr[0].dsp is missing; accepted: a number above 0"),
    "missing share": (r"^bram36 = 0.*$", "", "plan.bram36 is missing; accepted: a share above 0, at most 1"),
    "text for a number": (r"^uram = 64", 'uram = "64"', "slr[0].uram is '64'; accepted: a number from 0"),
    "number for a text": (r"^part = .*$", "part = 26", "part is 26; accepted: letters, digits"),
    "truth for a number": (r"^channels = 1", "channels = true", "memory.channels is True; accepted: an integer from 1"),
    "fraction for a count": (r"^tags = 4", "tags = 4.0", "memory.tags is 4.0; accepted: an integer from 1"),
    "negative resource": (r"^lut = 114000", "lut = -1", "slr[0].lut is -1; accepted: a number above 0"),
    "no resource": (r"^dsp = 1248", "dsp = 0", "slr[0].dsp is 0; accepted: a number above 0"),
    "endless resource": (r"^dsp = 1248", "dsp = inf", "slr[0].dsp is inf; accepted: a number above 0"),
    "share above one": (r"^lut = 0.80", "lut = 1.01", "plan.lut is 1.01; accepted: a share above 0, at most 1"),
    "no share": (r"^ff = 0.60", "ff = 0.0", "plan.ff is 0.0; accepted: a share above 0, at most 1"),
    "no clock": (r"^clocks_mhz = \S+ \S+ \S+", "clocks_mhz = []", "clocks_mhz is []; accepted: a list that is not empty"),
    "clock of zero": (r"\[200, 150", "[0, 150", "clocks_mhz has 0; accepted: integers from 1"),
    "die that is none": (r"^slr = 0", "slr = 1", "memory.slr is 1; accepted: a die: 0 to 0"),
    "unknown key of power": (r"^static_watts", "idle_watts", "unknown key power.idle_watts; accepted: most_watts, static_watts"),
    "power of a resource": (r"^lut = 1.8", "lut = -1", "power.dynamic_watts.lut is -1; accepted: a number from 0"),
    "power of no resource": (r"^dsp = 2.2", "", "power.dynamic_watts.dsp is missing; accepted: a number from 0"),
    "static above the limit": (r"^static_watts = 5", "static_watts = 37", "power.static_watts is 37; accepted: at most power.most"),
    "odd word": (r"^word_bits = 128", "word_bits = 96", "memory.word_bits is 96; accepted: a power of two from 32 to 512"),
    "wide word": (r"^word_bits = 128", "word_bits = 1024", "memory.word_bits is 1024; accepted: a power of two from 32 to 512"),
    "more than the peak": (r"^(sustained_\w+) = 14.4", r"\1 = 20", "memory.sustained_gigabytes_per_second is 20; accepted: at most "
                           "memory.channel_gigabytes_per_second, 19.2"),
    "ends of no channel": (r"^channels = 1", "channels = 3", "memory.tags is 4; accepted: a multiple of memory.channels, 3"),
    "tag without number": (r"HP\{n\}", "HP", "memory.tag is 'HP'; accepted: a name with {n} for the number"),
    "tag that is none": (r"HP\{n\}", "HP {n}", "memory.tag is 'HP {n}'; accepted: a name with {n} for the number"),
    "burst of one": (r"^burst_words = 16", "burst_words = 1", "memory.burst_words is 1; accepted: an integer from 2 to 256"),
    "long burst": (r"^burst_words = 16", "burst_words = 257", "memory.burst_words is 257; accepted: an integer from 2 to 256"),
    "name of no platform": (r'^name = "kv260"', 'name = "none"', "name is 'none', which designs have that stc did not write"),
    "name with a space": (r'^name = "kv260"', 'name = "my card"', "name is 'my card'; accepted: letters, digits"),
    "line break": (r'^shell = "\w+"', 'shell = "a\\\\nb"', "shell is 'a\\nb'; accepted: letters, digits"),
    "no TOML": (r"^\[plan\]", "[plan", "no TOML: "),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_refused(what: str) -> None:
    pattern, new, message = BAD[what]
    with pytest.raises(CompileError) as error:
        read_platform(changed(pattern, new), WHERE)
    assert str(error.value).startswith(f"{WHERE}: {message}"), str(error.value)
    assert "\n" not in str(error.value)


def test_no_die() -> None:
    without = KV260[: KV260.index("[[slr]]")] + KV260[KV260.index("[memory]") :]
    with pytest.raises(CompileError, match="slr is missing; accepted: a list"):
        read_platform(without, WHERE)
    with pytest.raises(CompileError, match=r"slr is \[\]; accepted: a list that is not empty"):
        read_platform(without.replace("name = ", "slr = []\nname = ", 1), WHERE)
    with pytest.raises(CompileError, match=r"slr\[0\] is 3; accepted: a table"):
        read_platform(without.replace("name = ", "slr = [3]\nname = ", 1), WHERE)
    with pytest.raises(CompileError, match="plan is 1; accepted: a table"):
        read_platform(changed(r"\[plan\]\n(\w+ = .*\n)+", "").replace("name = ", "plan = 1\nname = ", 1), WHERE)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        (tmp_path / WHERE).write_text(text)
        return str(tmp_path / WHERE)

    return write


def test_a_file_of_a_user(written: Callable[[str], str]) -> None:
    path = written(changed('"kv260"', '"k26-board"'))
    assert load_platform(path).name == "k26-board" and load_platform(path).memory == load_platform("kv260").memory
    written(changed('"kv260"', '"other"'))
    assert load_platform(path).name == "other", "a file that has changed is read again"
    assert load_platform(written(KV260)) == load_platform("kv260"), "a copy of ours is ours"


def test_a_copy_that_an_older_version_kept(written: Callable[[str], str], capsys: pytest.CaptureFixture[str]) -> None:
    """It is used as it is, with one warning for each thing, however often it is read."""
    retired = '[multiplier]\nkind = "DSP48E2"\n\n[memory]\nread_latency_cycles = 75\nsharing = "equal"'
    older = changed("^dsp = 1248", "dsp = 1247").replace("[memory]", retired)
    path = written(older)
    for _ in range(2):
        assert load_platform(path).whole.dsp == 1247
    assert capsys.readouterr().err.splitlines() == [
        f"warning: {path}: nothing reads multiplier or memory.read_latency_cycles or memory.sharing any more",
        f"warning: {path}: not the figures that stc's own 'kv260' has now; those of the file count",
    ]


@pytest.mark.parametrize(("name", "message"), [("absent.toml", "No such file"), (".toml", "No such file")])
def test_no_file(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=f"cannot read the platform \\({message}.*; accepted: a TOML file"):
        load_platform(str(tmp_path / name))


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / WHERE).write_bytes(b"\xff\xfe")
    with pytest.raises(CompileError, match=r"cannot read the platform \(not a text file"):
        load_platform(str(tmp_path / WHERE))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(CompileError, match=r"cannot read the platform \(Is a directory"):
        load_platform(str(tmp_path / "folder.toml"))
