"""benchmarks/paper.py: the published figures and what follows from them, and tables of kept rows, without measuring any."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stc.diagnostics import CompileError

pytestmark = pytest.mark.heavy

DOCS = Path(__file__).parents[2] / "docs"
LENGTHS = [f"gpt2-medium [{length}:{length}]" for length in (32, 64, 128, 256)]


@pytest.fixture(scope="module")
def paper(benchmark_module: Callable[[str], ModuleType]) -> ModuleType:
    return benchmark_module("paper")


@pytest.fixture(scope="module")
def published(paper: ModuleType) -> ModuleType:
    return sys.modules["paper_published"]


@pytest.fixture(autouse=True)
def nothing_is_measured(paper: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> None:
        raise AssertionError("a row was measured")

    monkeypatch.setattr(paper.paper_rows, "STORE", replace(paper.paper_rows.STORE, measure=refuse))
    for module in (paper.decode_u55c, paper.platform_blocks):
        monkeypatch.setattr(module, "KEPT", replace(module.KEPT, measure=refuse))
    monkeypatch.setattr(paper.planned_blocks, "ROWS", replace(paper.planned_blocks.ROWS, measure=refuse))


def test_geometric_means(published: ModuleType) -> None:
    assert published.geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert published.geometric_mean([0.5]) == pytest.approx(0.5)
    assert published.geometric_mean([1e200, 1e200, 1e-200]) == pytest.approx(1e200 ** (1 / 3))


def test_latency_is_the_first_token_and_the_others_at_the_speed_of_decode(published: ModuleType) -> None:
    """CODO prints all three; its row of 64 tokens does not follow from the other two, by one token."""
    by_kind = {each.quantity: each for each in published.read().series if each.system.startswith("CODO")}
    for design, off in zip(LENGTHS, (0, 1, 0), strict=False):
        first, speed, last = (by_kind[kind].of(design) for kind in ("ttft", "decode", "latency"))
        assert published.latency_ms(first, speed, published.tokens_of(design) + off) == pytest.approx(last, abs=0.01)


def test_the_rows_give_what_the_publication_sums_up(paper: ModuleType, published: ModuleType) -> None:
    rows = paper.summary(paper.Paper(published.read())).rows
    compared = [(row[3], row[4]) for row in rows if row[4] is not None]
    assert len(compared) == 4
    assert all(again == pytest.approx(said, abs=0.011) for said, again in compared)


def test_every_figure_has_its_place(published: ModuleType) -> None:
    data = published.read()
    assert all(each.source and each.origin in (*published.ORIGINS, "derived") for each in data.series)
    assert all(each.source for each in (*data.summaries, *data.ranges.values()))


def test_what_was_not_verified_says_so(paper: ModuleType, published: ModuleType) -> None:
    """Tables were not read, the text was; what follows from the former is no better."""
    whole = paper.Paper(published.read())
    assert {each.seen for each in whole.published.series} == {"second hand"}
    assert "* NVIDIA A100 (W8A8): derived, second hand (StreamTensor, table 5" in paper.latency(whole).note
    assert "second hand" in paper.models(whole).note and "not verified" in paper.INTRODUCTION


GOOD = """
[[series]]
quantity = "decode"
system = "another"
designs = ["m [2:2]"]
values = [3.5]
origin = "printed"
source = "table 1"
seen = "text"
"""
BAD = {
    "no TOML": ("[[series]]", "[[series", "cannot be read: "),
    "unknown table": ("[[series]]", "[[serie]]", "unknown table serie; accepted: models, series, summary, range"),
    "unknown key": ("system", "sistem", "series[0]: unknown key sistem; accepted: quantity, system"),
    "missing key": ('source = "table 1"\n', "", "series[0]: source is missing; accepted: quantity"),
    "unknown quantity": ('"decode"', '"speed"', "series[0]: quantity is 'speed'; accepted: decode, ttft"),
    "unknown origin": ('"printed"', '"guessed"', "series[0]: origin is 'guessed'; accepted: printed, text"),
    "not said how it came": ('seen = "text"\n', "", "series[0]: seen is missing; accepted: quantity"),
    "came some other way": ('"text"', '"somewhere"', "series[0]: seen is 'somewhere'; accepted: text, second hand"),
    "no source": ('"table 1"', '" "', "series[0]: source has ' '; accepted: text that is not empty"),
    "negative figure": ("3.5", "-3.5", "series[0]: values has -3.5; accepted: text that is not empty, or numbers above 0"),
    "no number": ("3.5", "nan", "series[0]: values has nan; accepted"),
    "a figure too many": ("3.5", "3.5, 3.5", "series[0]: 2 values; accepted: 1, one for each design"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_file_of_figures_is_refused(published: ModuleType, tmp_path: Path, what: str) -> None:
    old, new, message = BAD[what]
    file = tmp_path / "theirs.toml"
    file.write_text(GOOD)
    assert [each.values for each in published.read(file).series] == [[3.5]]
    assert old in GOOD
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(CompileError) as error:
        published.read(file)
    text = str(error.value).replace("theirs.toml: ", "")
    assert text.startswith(message) and "\n" not in text and "theirs.toml" in str(error.value)


def test_tables_are_printed_from_kept_rows(paper: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert paper.main(["decode", "energy", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert list(tables) == ["decode", "energy"]
    rows = {row["prompt and tokens"]: row for row in tables["decode"]["rows"]}
    assert [rows[design]["StreamTensor (W4A8, U55C, 250 MHz)"]["published"] for design in LENGTHS] == [199.5, 215.5, 224.1, 229.6]
    measured = paper.decode_u55c.KEPT.known()["gpt2-tiny [16:16]"].tokens_per_second(paper.PLATFORM.clock_mhz)
    assert rows["gpt2-tiny [16:16]"]["ours"] == pytest.approx(measured)
    estimated = [row for row in tables["energy"]["rows"] if row["origin"] != "not measured"]
    assert all(row["origin"].startswith("estimated: ") and 0 < row["watts"] < row["of at most"] for row in estimated)
    assert "gpt2-tiny [16:16]" in [row["design"] for row in estimated]


def test_what_has_no_row_says_its_command(paper: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = replace(paper.decode_u55c.KEPT, data=tmp_path / "none.json")
    monkeypatch.setattr(paper.decode_u55c, "KEPT", store)
    monkeypatch.setitem(paper.COMMANDS, store.data, "python benchmarks/decode_u55c.py")
    table = paper.decode(paper.Paper(paper.read(), ("gpt2-medium",)))
    assert "python benchmarks/decode_u55c.py 'gpt2-medium [32:32]'" in table.as_json()["not measured"]
    assert "| gpt2-medium [32:32] |  | 199.5 | 204.1 |" in table.markdown() and "| not measured |" in table.markdown()
    assert "mean" not in table.markdown(), "of whole models there is none"


def test_ratios_and_means_are_of_whole_models(paper: ModuleType) -> None:
    made_up = {LENGTHS[0]: paper.Ours(399.0, "simulated"), LENGTHS[1]: paper.Ours(431.0, "simulated"),
               LENGTHS[2]: paper.Ours(1.0, "layers alone", whole=False)}  # fmt: skip
    whole = paper.Paper(paper.read())
    table = paper._compared(whole, "decode", lambda _, design: made_up.get(design), "decode", "", [])
    assert [row[2].ratio and round(row[2].ratio, 3) for row in table.rows] == [2.0, 2.0, 0.004, None, 2.0]
    assert table.rows[-1][0] == "geometric mean, of whole models" and str(table.rows[-1][2]) == "(x 2)"


@pytest.mark.parametrize("arguments, said", [
    (["table9"], "no table is called 'table9'; accepted: models, decode, ttft"),
    (["decode", "--models", "gpt5"], "no model is called 'gpt5'; accepted: gpt2-medium"),
    (["fifos", "--row", "none"], "--row without --measure; accepted: both"),
    (["fifos", "--measure", "--row", "none"], "no row is called 'none'; accepted: mlp, 12 tokens, published-normal"),
])  # fmt: skip
def test_what_is_not_there_is_refused(
    paper: ModuleType, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        paper.main(arguments)
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_a_measured_row_is_kept_and_told(
    paper: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = paper.paper_rows
    name = next(iter(rows.FIFOS))
    made_up = lambda name: rows.Row(name, groups=1, fifo_bits=64, cycles=7, seconds=3, measured="today")  # noqa: E731
    monkeypatch.setattr(rows, "STORE", replace(rows.STORE, measure=made_up, data=tmp_path / "rows.json"))
    assert paper.main(["fifos", "--measure", "--row", name]) == 0
    printed = capsys.readouterr()
    assert f"1 of 1: {name} ..." in printed.err and f"| {name} | 64 | 7 | counted, simulated: today |" in printed.out
    assert list(rows.STORE.known()) == [name]


def test_seconds_are_over_those_of_published_models_alone(paper: ModuleType) -> None:
    table = paper.compile_time(paper.Paper(paper.read()))
    over = {row[0]: row[table.columns.index("over it")] for row in table.rows}
    of_theirs = [ratio for design, ratio in over.items() if design.startswith("gpt2-medium")]
    assert of_theirs and None not in of_theirs
    assert all(ratio is None for design, ratio in over.items() if "tiny" in design.split(",")[0].split("-"))


def test_a_row_that_is_refused_is_one_sentence(
    paper: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def refuse(name: str) -> None:
        raise CompileError("it does not fit", where=name, accepted="less")

    rows = paper.paper_rows
    monkeypatch.setattr(rows, "STORE", replace(rows.STORE, measure=refuse, data=tmp_path / "rows.json"))
    assert paper.main(["fifos", "--measure", "--row", next(iter(rows.FIFOS))]) == 2
    printed = capsys.readouterr()
    assert printed.err.splitlines()[-1].startswith("error: ") and "it does not fit; accepted: less" in printed.err
    assert not printed.out


def test_layers_are_those_of_the_model(paper: ModuleType) -> None:
    layers = paper.Paper(paper.read()).layers
    assert [layers(model) for model in ("gpt2-medium", "tinyllama-1.1b", "gpt2", "gpt2-tiny")] == [24, 22, 12, 1]


def test_joules_of_a_gpu_stand_beside_ours(paper: ModuleType) -> None:
    measured = paper.Series("energy", "a GPU", ["gpt2-medium [32:32]"], [0.5], "executed", "today", "here")
    table = paper.energy(paper.Paper(paper.read(), ("gpt2-medium",), (measured,)))
    assert [row for row in table.rows if row[1] == "a GPU"] == [
        ["gpt2-medium [32:32]", "a GPU", None, None, None, 2.0, 0.5, "executed: today"]
    ]
    assert "python benchmarks/platform_blocks.py" in table.markdown(), "blocks that have no row are said"


def test_joules_of_a_token(paper: ModuleType) -> None:
    platform = paper.load_platform("kv260")
    used = {"dsp": 624, "lut": 57_000, "ff": 114_500, "bram18": 144, "uram": 32}
    watts, most, joules, tokens = paper._drawn(platform, used, 1e9, 5.0)
    assert watts == pytest.approx(5 + 5.6 / 2 + 5e9 * 160e-12) and most == 36
    assert joules == pytest.approx(watts / 5) and tokens == pytest.approx(1 / joules)
    assert paper._drawn(replace(platform, power=None), used, 1e9, 5.0) == [None] * 4


def test_the_page_is_what_it_writes(
    paper: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(paper, "DOCUMENT", tmp_path / "paper.md")
    monkeypatch.setattr(paper, "PICTURE", tmp_path / "paper_sweeps.svg")
    monkeypatch.setattr(paper.gpu, "kept", list)
    assert paper.main(["summary", "--write"]) == 0
    for name in ("paper.md", "paper_sweeps.svg"):
        written: Any = (tmp_path / name).read_text()
        assert written == (DOCS / name).read_text(), f"docs/{name}: python benchmarks/paper.py --write"
