"""The page of `stc report`: what stands in it, seen by a browser; and what the command does with unusable input."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import plotly.graph_objects as go
import pytest
from browser import TELL, Page, browse, told

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.manifest.schema import Manifest
from stc.simulation.critical_path import critical_path
from stc.simulation.simulation_result import SimulationResult
from stc.tools.compile import CompileRequest, compile_model
from stc.tools.report.command import PAGE, write_report
from stc.tools.report.drawing import drawing, label
from stc.tools.report.facts import kernel_facts
from stc.tools.report.figures import timeline
from stc.tools.report.page import embedded, number, render_page, share
from stc.tools.report.tables import Row, path_tables, tables_of
from stc.tools.stc import main
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

ROWS = Path(__file__).with_name("rows.mlir")
DEEP = "fc_copy_1"
"""The FIFO of rows.mlir that must hold the whole first operand."""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    out = tmp_path_factory.mktemp("report") / "rows"
    compile_model(CompileRequest(str(ROWS), options=small_options(tile=4)), out)
    return out


@pytest.fixture(scope="module")
def project(compiled: Path) -> tuple[Path, SimulationResult]:
    """Its page, and the run that the page shows."""
    result = write_report(compiled, {}, 60, optimisation=0)
    good = compiled.parent / "good.html"
    shutil.copy(compiled / "build" / PAGE, good)
    return good, result


@pytest.fixture(scope="module")
def manifest(compiled: Path) -> Manifest:
    return read_manifest(compiled)


@pytest.fixture(scope="module")
def page(project: tuple[Path, SimulationResult], tmp_path_factory: pytest.TempPathFactory) -> Page:
    return browse(project[0], tmp_path_factory.mktemp("browser"))


# In the browser -------------------------------------------------------------------------------------------------------


def test_scripts_run_to_their_end_without_a_message(page: Page):
    root = next(element for element in page.elements if element.tag == "html")
    assert root.attributes["data-ready"] == "yes"
    assert page.console == ()


def test_nodes_are_the_tasks_and_edges_the_channels(page: Page, manifest: Manifest):
    kernel = manifest.kernels[0]
    assert sorted(node.attributes["data-task"] for node in page.of_class("node")) == sorted(task.name for task in kernel.tasks)
    edges = {(e.attributes["data-fifo"], e.attributes["data-from"], e.attributes["data-to"]) for e in page.of_class("edge")}
    assert edges == {(c.name, c.producer, c.consumer) for c in (*kernel.streams, *kernel.blocks)}
    assert len(page.of_class("edge")) == len(kernel.streams) + len(kernel.blocks)


def test_every_task_has_a_line_in_the_timeline(page: Page, manifest: Manifest):
    ticks = re.findall(r'<g class="ytick">.*?</g>', page.html, flags=re.DOTALL)
    lines = [tick for tick in ticks if any(f">{task.name}<" in tick for task in manifest.kernels[0].tasks)]
    assert len(lines) == len(manifest.kernels[0].tasks)


def test_nothing_is_asked_of_the_network(page: Page, project: tuple[Path, SimulationResult]):
    assert page.requested == ()
    text = project[0].read_text()
    own = re.sub(r"/\*\*\n\* plotly\.js.*?</script>", "", text, flags=re.DOTALL)
    assert len(own) < len(text) / 5, "plotly was not found"
    assert "default-src 'none'" in own
    assert not re.findall(r"https?://|\bsrc=|\bsrcset=|@import|url\((?!#)", own)
    assert all(reference.startswith("#") for reference in re.findall(r'\bhref="([^"]*)"', own))


def test_a_page_that_loads_something_would_be_noticed(project: tuple[Path, SimulationResult], tmp_path: Path):
    """The page's own policy refuses a load and says so; without the policy, the request is seen."""
    load = "const image = new Image(); image.src = 'http://127.0.0.1:9/picture.png'; document.body.append(image);"
    assert browse(project[0], tmp_path, script=load).console
    open_page = tmp_path / "open.html"
    open_page.write_text(f"<html><body><script>{load}</script></body></html>")
    assert browse(open_page, tmp_path).requested


@pytest.mark.parametrize("name", [DEEP, "fc_stream"])
def test_a_fragment_chooses_the_curves(project: tuple[Path, SimulationResult], tmp_path: Path, name: str):
    good, result = project
    fifo = next(fifo for fifo in result.fifos if fifo.name == name)
    tell = TELL + "setTimeout(() => tell(document.getElementById('curves').data.map((t) => [t.name, t.x, t.y])), 2000);"
    shown = browse(good, tmp_path, f"fifo={name}", tell)
    assert shown.by_id("curves").attributes["data-fifo"] == name
    curves = {which: (x, y) for which, x, y in told(shown)}  # pyright: ignore[reportGeneralTypeIssues]
    for which, points in (("produced", fifo.produced), ("consumed", fifo.consumed)):
        assert list(zip(*curves[which], strict=True))[1:-1] == list(points)
    assert curves["produced"][1][-1] == fifo.tokens
    assert curves["consumed + depth"][1] == [count + fifo.depth for count in curves["consumed"][1]]
    assert [edge.attributes["data-fifo"] for edge in shown.of_class("edge") if edge.has_class("chosen")] == [name]


def test_the_list_an_edge_and_a_row_choose_too_and_a_heading_sorts(project: tuple[Path, SimulationResult], tmp_path: Path):
    script = TELL + """
      const shown = () => document.getElementById("curves").dataset.fifo, list = document.getElementById("fifo"), seen = [];
      list.value = "fc_stream"; list.dispatchEvent(new Event("change")); seen.push(shown());
      document.querySelector('.edge[data-fifo="x_stream"]').dispatchEvent(new Event("click")); seen.push(shown());
      document.querySelector('tr[data-row-fifo="norm_sum_stream"]').click(); seen.push(shown());
      const table = document.querySelector("#fifos table");
      const heading = [...table.tHead.rows[0].cells].find((cell) => cell.textContent.startsWith("tokens"));
      heading.firstElementChild.click();
      tell([seen, [...table.tBodies[0].rows].map((row) => +row.cells[heading.cellIndex].dataset.v)]);"""
    good, result = project
    tokens = sorted((fifo.tokens for fifo in result.fifos), reverse=True)
    assert told(browse(good, tmp_path, script=script)) == [["fc_stream", "x_stream", "norm_sum_stream"], tokens]
    assert tokens != sorted(tokens, key=str, reverse=True), "these do not tell numbers from texts"


def test_channels_and_phases_are_drawn(page: Page, project: tuple[Path, SimulationResult]):
    result = project[1]
    assert result.memory is not None and result.cycles is not None
    drawn = [element for element in page.elements if element.has_class("look-read") and element.tag == "rect"]
    assert len(drawn) == sum(count > 0 for use in result.memory.channels for count in use.read_over_time) > 0
    assert [element for element in page.elements if element.has_class("look-work") and element.tag == "rect"]
    for use in result.memory.channels:
        assert f">{use.read:,}<" in page.html and f">{use.idle:,}<" in page.html


def test_a_deadlock_is_explained_beside_its_graph(compiled: Path, manifest: Manifest, tmp_path: Path):
    result = write_report(compiled, {DEEP: 1}, 60, optimisation=0)
    assert result.values.outcome == "deadlock"
    shown = browse(compiled / "build" / PAGE, tmp_path)
    assert shown.console == ()
    assert {node.attributes["data-task"] for node in shown.of_class("node")} == {task.name for task in manifest.kernels[0].tasks}
    blocked = {node.attributes["data-task"] for node in shown.of_class("node") if node.has_class("blocked")}
    assert blocked == {entry.task for entry in result.values.blocked} - {manifest.kernels[0].name}
    assert [edge.attributes["data-fifo"] for edge in shown.of_class("edge") if edge.has_class("culprit")] == [DEEP]
    assert "No timeline: the run did not end." in shown.html
    assert shown.by_id("curves").attributes["data-fifo"] == DEEP


# What the page is made of ---------------------------------------------------------------------------------------------


def test_the_timeline_accounts_for_every_cycle(project: tuple[Path, SimulationResult], manifest: Manifest):
    facts = kernel_facts(manifest.kernels[0], project[1])
    figure = timeline(facts)
    busy, reading, writing = figure["data"]
    for bars in figure["data"]:
        bars["marker"] = {"color": "#000000"}
    go.Figure(figure)  # plotly refuses what it does not know
    assert sum(busy["x"]) == sum(end - begin for task in project[1].tasks for begin, end in task.calls)
    for bars, reads in ((reading, True), (writing, False)):
        lost = sum(length * width / 0.78 for length, width in zip(bars["x"], bars["width"], strict=True))
        assert lost == pytest.approx(sum(w.cycles for t in project[1].tasks for w in t.waits if w.reads == reads))
    assert all(task.utilisation is not None and 0 < task.utilisation <= 1 for task in facts.tasks)


def test_the_critical_path_stands_in_tables_and_boxes(project: tuple[Path, SimulationResult], manifest: Manifest):
    cycles = project[1].cycles
    assert cycles is not None
    path = critical_path(project[1])
    shares, parts = path_tables(path)
    assert sum(_cycles(row) for row in shares.rows) == sum(_cycles(row) for row in parts.rows) == cycles
    facts = kernel_facts(manifest.kernels[0], project[1], path)
    own: dict[str, int] = {}
    for row in parts.rows:
        _, _, _, task, spent_on, _ = row.cells
        own[str(task)] = own.get(str(task), 0) + (_cycles(row) if spent_on in ("work", "wait for external memory") else 0)
    assert sum(own.values()) > 0 and all(task.critical == own.get(task.name, 0) for task in facts.tasks)


def _cycles(row: Row) -> int:
    cycles = row.cells[2]
    assert isinstance(cycles, int)
    return cycles


def test_boxes_of_the_drawing_do_not_overlap_and_stay_inside(project: tuple[Path, SimulationResult], manifest: Manifest):
    picture = drawing(kernel_facts(manifest.kernels[0], project[1]))
    for box in picture.boxes:
        assert min(box.x, box.y) >= 0 and box.x + 158 <= picture.width and box.y + 52 <= picture.height
    corners = [(box.x, box.y) for box in picture.boxes]
    assert not [
        (one, other)
        for at, one in enumerate(corners)
        for other in corners[:at]
        if abs(one[0] - other[0]) < 158 and abs(one[1] - other[1]) < 52
    ]


def test_fifos_of_several_kernels_may_have_the_same_name(project: tuple[Path, SimulationResult], manifest: Manifest):
    first = manifest.kernels[0]
    second = replace(first, name="second", streams=first.streams[:2], blocks=())
    html = render_page(replace(manifest, kernels=(first, second)), {}, None, project[1])
    keys = [f"{first.name}/{stream.name}" for stream in first.streams] + [f"second/{stream.name}" for stream in second.streams]
    fifos = html[html.index('<section id="fifos"') : html.index('<section id="sizing"')]
    assert sorted(re.findall(r'data-row-fifo="([^"]+)"', fifos)) == sorted(keys)
    for pattern in (r'data-fifo="([^"]+)"', r"<option>([^<]+)</option>"):
        assert sorted(re.findall(pattern, html)) == sorted(keys)


def test_sections_say_what_is_not_measured(project: tuple[Path, SimulationResult], manifest: Manifest):
    html = render_page(manifest, {}, None, project[1])
    for command in ("stc size DIR", "stc compile writes"):
        assert command in html


def test_sections_show_what_is(project: tuple[Path, SimulationResult], manifest: Manifest):
    run = {"cycles": 1234567, "verdict": "equal", "bits": 7654321, "memory_bits": 8}
    fifo = {"name": DEEP, "bits": 128, "tokens": 40, "required": 33, "emitted": 64, "occupied": 34, "minimal": 31, "best": 29}
    bits = {"worst_case": 1, "lp": 2, "required": 3, "emitted": 4448}
    solved = {"kernel": "rows", "origin": "solved", "strategy": "no-stall", "makespan": 5, "solver": "HiGHS", "seconds": 0.1}
    sizing = {"origin": "executed somewhere", "emitted": run, "minimal": run, "fifos": [fifo]}
    count = {"dsp": 9876, "lut": 1, "ff": 2, "bram18": 3, "uram": 4}
    parts = {"parts": {"adapters": count}, "total": count, "share": dict.fromkeys(count, 0.21), "share_of_slr": []}
    resources = {"origin": "guessed", **parts}
    report = {"resources": resources, "fifo_sizing": {"kernels": [{**solved, "bits": bits}]}}
    html = render_page(manifest, report, sizing, project[1])
    assert "run stc size DIR" not in html
    for text in ("1,234,567", "7,654,321", "executed somewhere", ">31<", ">29<", "9,876", "21 %", "guessed", "4,448"):
        assert text in html


def test_unknown_sections_become_tables():
    groups = {"one": {"p": 1, "q": 2}, "two": {"p": 3, "q": 4}}
    tables = tables_of({"origin": "x", "a_b": 5, **groups, "list": [{"n": "u"}, {"n": "v", "m": 7}]})
    assert [[row.cells for row in table.rows] for table in tables] == [
        [("a b", 5)], [("one", 1, 2), ("two", 3, 4)], [("u", None), ("v", 7)],
    ]  # fmt: skip


def test_names_cannot_break_out_of_the_page(project: tuple[Path, SimulationResult], manifest: Manifest):
    html = render_page(replace(manifest, name="<script>alert(1)</script>"), {}, None, project[1])
    assert "<script>alert(1)" not in html
    assert "</script" not in embedded({"name": "</script><b>"})
    assert json.loads(embedded({"name": "</script><b>"})) == {"name": "</script><b>"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234567, "1,234,567"), (0, "0"), (None, "–"), (0.012345, "0.0123"), (1234.56, "1,234.6"), (3.0, "3"), (True, "yes")],
)
def test_numbers_as_written(value: float | None, text: str):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0 %"), (0.0001, "<0.1 %"), (0.0123, "1.2 %"), (0.5, "50 %"), (1.0, "100 %"), (None, "–")]
)
def test_shares_as_written(value: float | None, text: str):
    assert share(value) == text


@pytest.mark.parametrize(
    "name", ["a", "load_x", "ln_1_sum_square_and_ln_1_rsqrt", "x" * 70, "mlp_c_proj_and_mlp_c_proj_add", "a_" + "b" * 30]
)
def test_labels_fit_their_boxes(name: str):
    lines = label(name, 21)
    assert 1 <= len(lines) <= 2 and all(0 < len(line) <= 21 for line in lines)
    assert "…" in "".join(lines) or "".join(lines) == name


# The command ----------------------------------------------------------------------------------------------------------


def run_command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["stc", "report", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_not_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    assert run_command(monkeypatch, str(tmp_path)) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["{", "[]", "\xff"])
def test_an_unreadable_report_leaves_the_old_page(compiled: Path, tmp_path: Path, text: str):
    folder = tmp_path / "copy"
    shutil.copytree(compiled, folder, ignore=shutil.ignore_patterns("build"))
    (folder / "build").mkdir()
    (folder / "build" / PAGE).write_text("old")
    (folder / "report.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(CompileError, match=r"report\.json"):
        write_report(folder, {}, 60)
    assert [(path.name, path.read_text()) for path in (folder / "build").iterdir()] == [(PAGE, "old")]


def test_a_report_of_another_version_is_refused(compiled: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("stc.tools.report.command.read_object", lambda path: {"memory_bytes": {}})
    with pytest.raises(CompileError, match="lacks a field: 'converters'"):
        write_report(compiled, {}, 60, optimisation=0)


def test_a_report_with_a_field_of_another_type_is_refused(compiled: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("stc.tools.report.command.read_object", lambda path: {"fifo_sizing": 3})
    with pytest.raises(CompileError, match="has a field of another type"):
        write_report(compiled, {}, 60, optimisation=0)


def test_depths_of_unknown_fifos_are_refused(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    depths = tmp_path / "depths.json"
    depths.write_text('{"no_such_fifo": 4}')
    assert run_command(monkeypatch, str(compiled), "--depths", str(depths)) == 2
