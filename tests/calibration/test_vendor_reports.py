"""The vendor's reports of a design: found below a folder and read, and refused where they are of another one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from written_reports import (
    write_cosimulation,
    write_device_utilisation,
    write_kernel_utilisation,
    write_synthesis,
    write_timing,
)

from stc.calibration.comparison import Comparison, compare
from stc.calibration.vendor_reports import read_reports
from stc.diagnostics import CompileError
from stc.manifest.schema import SCHEMA_VERSION, Kernel, LoopSchedule, Manifest, MemoryTiming, Task, TaskResources, Unit


def loop(label: str, parent: str | None, trip: int, ii: int | None, flattened: bool = False) -> LoopSchedule:
    return LoopSchedule("fc", label, parent, trip, ii, 11 if ii else None, 1, flattened, {}, {}, (), "estimated", "addf 7")


LOOPS = (loop("tile", None, 3, None), loop("mac_k", "tile", 4, None, True), loop("mac", "mac_k", 5, 1), loop("write", "tile", 7, 1))
TASKS = (Task("fc", "compute", None, (), (), resources=TaskResources(80, 9000, 8000, 4, 0)), Task("store", "store", None, (), ()))
KERNEL = Kernel("top", (), TASKS, (), (), LOOPS)
MEMORY = MemoryTiming(250.0, 100, 57.6, 16, 16, 75.0)
MANIFEST = Manifest(SCHEMA_VERSION, "m", "u55c", (KERNEL,), (), (), 1e-4, {}, {}, {}, memory=MEMORY, design="1234")
REPORT = {"throughput": {"cycles": 500}, "resources": {"total": {"dsp": 80, "lut": 12000, "ff": 9000, "bram18": 6, "uram": 0}}}


def write_all(folder: Path, wns: float = 0.125) -> Path:
    write_synthesis(folder, MANIFEST, {("fc", "mac"): (2, 19)})
    write_cosimulation(folder / "csynth" / "top", "top", 640)
    write_timing(folder / "link", wns)
    write_kernel_utilisation(folder / "link", "top", TaskResources(90, 13000, 9900, 7, 1))
    write_device_utilisation(folder / "link")
    return folder


def compared(folder: Path) -> Comparison:
    return compare(MANIFEST, REPORT, read_reports([folder], MANIFEST), (510, 600))


def test_everything_is_found_and_read(tmp_path: Path) -> None:
    reports = read_reports([write_all(tmp_path)], MANIFEST)
    assert reports.profile is not None and not reports.missing
    assert {(row.task, row.loop, row.ii, row.depth, row.trips) for row in reports.profile.loops} == {
        ("fc", "mac_k_mac", 2, 19, 20), ("fc", "write", 1, 11, 7),
    }  # fmt: skip
    assert reports.profile.resources["fc"] == {"dsp": 80, "lut": 9000, "ff": 8000, "bram18": 4, "uram": 0}
    (synthesis,), (run,) = reports.synthesis, reports.cosimulation
    assert (synthesis.target_ns, synthesis.estimated_ns, synthesis.latency, synthesis.resources["lut"]) == (4.0, 2.92, 340, 8000)
    assert (run.kernel, run.passed, run.cycles) == ("top", True, 640)
    assert reports.timing is not None
    assert (reports.timing.wns, reports.timing.clock, reports.timing.period_ns) == (0.125, "clk_kernel_00_unbuffered_net", 4.0)
    kernel, device = reports.utilisation
    assert kernel.resources == {"dsp": 90, "lut": 13000, "ff": 9900, "bram18": 7, "uram": 1}, "3.5 tiles are 7 blocks"
    assert device.whole_device and device.of == "level0_wrapper"
    assert device.resources == {"dsp": 1588, "lut": 240001, "ff": 300002, "bram18": 595, "uram": 3}


def test_folders_of_several_runs(tmp_path: Path) -> None:
    """What another run of the tool left beside them does not count where its folder is not named; one named twice counts once."""
    write_all(tmp_path)
    other = tmp_path / "other"
    write_synthesis(other, MANIFEST, {("fc", "mac"): (4, 40)})
    with pytest.raises(CompileError, match="accepted: folders with the reports of one run"):
        read_reports([tmp_path], MANIFEST)
    found = read_reports([tmp_path / "csynth", tmp_path / "link", tmp_path / "link"], MANIFEST)
    assert found.missing == () and found.profile is not None and {row.ii for row in found.profile.loops} == {1, 2}


def test_the_last_stage_counts(tmp_path: Path) -> None:
    write_timing(tmp_path, -0.5, "impl_1_timing_summary_placed.rpt")
    write_timing(tmp_path, -0.25, "impl_1_timing_summary_routed.rpt")
    write_timing(tmp_path, 0.015, "impl_1_timing_summary_postroute_physopted.rpt")
    reports = read_reports([tmp_path], MANIFEST)
    assert reports.timing is not None and reports.timing.wns == 0.015
    assert len(reports.missing) == 3 and reports.profile is None
    assert "taken to be of this design" in " ".join(compare(MANIFEST, REPORT, reports, (None, None)).sentences)


def test_where_the_model_was_off(tmp_path: Path) -> None:
    found = compared(write_all(tmp_path))
    (off,) = [gap for gap in found.loops if gap.is_off]
    # 3 fills of 20 iterations: each fill waits a cycle more for 19 of them, and is 8 stages deeper.
    assert (off.loop, off.iterations, off.fills, off.extra_cycles) == ("mac", 60, 3, 57 + 3 * 8)
    assert "II 2 for 1 (81 cycles more" in found.sentences[0]
    synthesis, routed = found.totals
    assert synthesis.reported["lut"] == 8000 and synthesis.large == ["dsp", "lut"], "9 DSP for 80"
    assert routed.large == [] and not found.tasks[0].large
    assert (found.cycles.estimated, found.cycles.simulated_as_reported, found.cycles.cosimulated) == (500, 600, 640)
    assert "(+6.7%)" in " ".join(found.sentences) and found.failures == ()


def test_what_keeps_it_from_the_card(tmp_path: Path) -> None:
    write_all(tmp_path, wns=-0.44)
    write_cosimulation(tmp_path / "csynth" / "top", "top", 640, "Fail")
    wrong, slow = compared(tmp_path).failures
    assert "co-simulation of top failed" in wrong
    assert "slack -0.44 ns of clock clk_kernel_00_unbuffered_net, 37 endpoints fail; it would close at 225 MHz" in slow
    write_synthesis(tmp_path / "again", MANIFEST, clock_ns=3.33, estimated_ns=4.1)
    alone = compare(MANIFEST, REPORT, read_reports([tmp_path / "again"], MANIFEST), (None, None))
    assert "estimates 4.1 ns for the 4 ns of 250 MHz" in " ".join(alone.failures)
    assert "asked for 3.33 ns" in " ".join(alone.sentences)


def edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        (path,) = folder.rglob(name)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return edit


def copied(folder: Path) -> None:
    (path,) = folder.rglob("fc_Pipeline_write_csynth.xml")
    (folder / path.name).write_text(path.read_text().replace("<PipelineDepth>11<", "<PipelineDepth>12<"))


def marked(folder: Path) -> None:
    (folder / "csynth" / "top" / "design.txt").write_text("stc-top-5678\n")


def other_run(folder: Path) -> None:
    write_cosimulation(folder / "older", "top", 650, "Fail")


def other_link(folder: Path) -> None:
    write_device_utilisation(folder / "older")
    edited("older/*full_util*", "240001", "240002")(folder)


def huge(folder: Path) -> None:
    with next(folder.rglob("top_cosim.rpt")).with_name("fc_csynth.xml").open("r+b") as file:
        file.truncate((64 << 20) + 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edited("csynth.xml", "<TopModelName>top<", "<TopModelName>other<"), r"another design \('other'\); accepted: .* of top"),
        (edited("fc_Pipeline_write_csynth.xml", "<TripCount>7<", "<TripCount>8<"), "'write' of task 'fc' has 8 iterations there"),
        (edited("fc_Pipeline_mac_k_mac_csynth.xml", "mac_k_mac>", "mac_k_sum>"), "no pipelined loop 'mac_k_sum'"),
        (edited("fc_csynth.xml", "<profile>", '<!DOCTYPE a [<!ENTITY b "c">]><profile>'), "XML with a document type"),
        (edited("fc_csynth.xml", "</profile>", ""), "not valid XML"),
        (edited("csynth.xml", "<LUT>8000<", "<LUT>-1<"), "a count of -1"),
        (edited("csynth.xml", "<TargetClockPeriod>4.00<", "<TargetClockPeriod>fast<"), "a clock period of 'fast'"),
        (edited("fc_Pipeline_write_csynth.xml", "<PipelineII>1<", "<PipelineII>x<"), "ii of fc.write is 'x'"),
        (edited("top_cosim.rpt", "Verilog|", "Fortran|"), "no row of a language that was simulated"),
        (edited("*timing_summary_routed.rpt", "WNS(ns)", "Slack"), "has no WNS"),
        (edited("*kernel_util_routed.rpt", "top", "pot"), "utilisation of another design"),
        (copied, "says something else than"),
        (other_run, "says something else than .*; accepted: folders with the reports of one run"),
        (other_link, "says something else than .*; accepted: folders with the reports of one run"),
        (edited("csynth.xml", "<LUT>8000<", f"<LUT>{'8' * 5000}<"), "a count of 5,000 digits"),
        (edited("fc_Pipeline_write_csynth.xml", "<TripCount>7<", f"<TripCount>{'7' * 5000}<"), "trips of fc.write is '777"),
        (edited("fc_Pipeline_write_csynth.xml", "<PipelineDepth>11<", "<PipelineDepth>1000000001<"), "at most 1,000,000,000"),
        (edited("csynth.xml", "<TargetClockPeriod>4.00<", f"<TargetClockPeriod>{'4' * 400}<"), "a clock period of '444"),
        (edited("*timing_summary_routed.rpt", "0.125", "  nan"), "has no WNS"),
        (edited("*full_util_routed.rpt", "240001", "240,001"), "'CLB LUTs' is '240,001'; accepted: a count"),
        (edited("*kernel_util_routed.rpt", " 13000 [", " 1.3.0 ["), r"'LUT' is '1.3.0 \["),
        (marked, r"another design \(stc-top-5678\); accepted: reports of this one \(stc-top-1234\)"),
        (huge, "at most 67,108,864 bytes"),
    ],
    ids=["top", "trips", "loop", "entities", "cut", "count", "clock", "ii", "cosim", "timing", "kernels",
         "copy", "runs", "links", "digits", "trip-digits",
         "depth", "clock-digits", "nan", "thousands", "dots", "mark", "size"],
)  # fmt: skip
def test_what_cannot_be_of_this_design_is_refused(tmp_path: Path, change: Callable[[Path], None], said: str) -> None:
    change(write_all(tmp_path))
    with pytest.raises(CompileError, match=said):
        read_reports([tmp_path], MANIFEST)


def test_a_cosimulation_of_another_kernel_alone_is_refused(tmp_path: Path) -> None:
    write_cosimulation(tmp_path, "other", 5)
    with pytest.raises(CompileError, match="a co-simulation of another design"):
        read_reports([tmp_path], MANIFEST)


def test_a_kernel_of_two_units_has_two_tops(tmp_path: Path) -> None:
    units = tuple(Unit(name, (task,), (), (), (), (), True) for name, task in (("body", "fc"), ("memory", "store")))
    manifest = replace(MANIFEST, kernels=(replace(KERNEL, units=units),))
    write_synthesis(tmp_path, manifest)
    found = compare(manifest, REPORT, read_reports([tmp_path], manifest), (None, None))
    assert [gap.reported["lut"] for gap in found.totals] == [16000] and found.cycles.synthesis is None, "they run together"
    shutil.rmtree(tmp_path / "csynth" / "memory")
    found = compare(manifest, REPORT, read_reports([tmp_path], manifest), (None, None))
    assert found.totals == () and "C synthesis of memory" in found.reports.missing


def test_kernels_with_their_csynth_xml_only(tmp_path: Path) -> None:
    """Each kernel has a report of that name: these are no copies of one."""
    tasks = tuple(replace(task, name=f"other_{task.name}") for task in TASKS)
    other = replace(KERNEL, name="other", tasks=tasks, schedule=tuple(replace(loop, task="other_fc") for loop in LOOPS))
    manifest = replace(MANIFEST, kernels=(KERNEL, other))
    write_synthesis(tmp_path, manifest)
    for place, task in (("top", "fc"), ("other", "other_fc")):
        modules = (f"<Module><Name>{path.stem.removesuffix('_csynth')}</Name>{loops_in(path)}</Module>"
                   for path in (tmp_path / "csynth" / place).glob(f"{task}_Pipeline_*_csynth.xml"))
        edited(f"{place}/csynth.xml", "<ModuleInformation>", f"<ModuleInformation>{''.join(modules)}")(tmp_path)
    for path in tmp_path.rglob("*_csynth.xml"):
        path.unlink()
    profile = read_reports([tmp_path], manifest).profile
    assert profile is not None and {(row.task, row.loop) for row in profile.loops} == {
        (task, loop) for task in ("fc", "other_fc") for loop in ("mac_k_mac", "write")
    }  # fmt: skip


def loops_in(path: Path) -> str:
    behind = path.read_text().partition("<SummaryOfLoopLatency>")[2]
    return "<SummaryOfLoopLatency>" + behind.partition("</PerformanceEstimates>")[0]


def test_cycles_of_some_kernels_are_none_of_the_design(tmp_path: Path) -> None:
    other = replace(KERNEL, name="other", tasks=(replace(TASKS[1], name="other_store"),), schedule=())
    manifest = replace(MANIFEST, kernels=(KERNEL, other))
    write_cosimulation(tmp_path, "top", 640)
    assert compare(manifest, REPORT, read_reports([tmp_path], manifest), (510, None)).cycles.cosimulated is None
    write_cosimulation(tmp_path, "other", 60)
    assert compare(manifest, REPORT, read_reports([tmp_path], manifest), (510, None)).cycles.cosimulated == 700


def test_utilisation_of_a_die_or_of_a_block_is_not_the_device(tmp_path: Path) -> None:
    write_device_utilisation(tmp_path)
    (device,) = tmp_path.iterdir()
    block = device.read_text().replace("level0_wrapper", "axi_block").replace("240001", "17")
    (tmp_path / "a_slr_util_routed.rpt").write_text("| Site Type | SLR0 | SLR1 |\n| CLB LUTs | 10 | 20 |\n")
    (tmp_path / "axi_block_utilization_synth.rpt").write_text(block)
    (found,) = read_reports([tmp_path], MANIFEST).utilisation
    assert (found.of, found.resources["lut"]) == ("level0_wrapper", 240001)
    device.unlink()
    with pytest.raises(CompileError, match="no report of the vendor's tool below it"):
        read_reports([tmp_path], MANIFEST)


def test_slack_between_clocks_and_of_hold_times(tmp_path: Path) -> None:
    """A frequency is said of a clock only; a design whose hold times fail works at none."""
    write_timing(tmp_path, -0.44)
    (path,) = tmp_path.iterdir()
    text = path.read_text()
    path.write_text(text.replace("clk_kernel_00_unbuffered_net      -0.440", "clk_kernel_00_unbuffered_net       0.200"))
    (slow,) = compare(MANIFEST, REPORT, read_reports([tmp_path], MANIFEST), (None, None)).failures
    assert "slack -0.44 ns, 37 endpoints fail" in slow and "MHz" not in slow
    path.write_text(text.replace("-0.440", " 0.100").replace(" 0.022 ", "-0.022 "))
    (hold,) = compare(MANIFEST, REPORT, read_reports([tmp_path], MANIFEST), (None, None)).failures
    assert "hold times are not met: slack -0.022 ns" in hold


def test_no_reports_and_no_folder(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("csynth.xml")
    with pytest.raises(CompileError, match="no report of the vendor's tool below it"):
        read_reports([tmp_path], MANIFEST)
    with pytest.raises(CompileError, match="no folder of reports"):
        read_reports([tmp_path / "notes.txt"], MANIFEST)


def test_what_depends_on_data_is_not_compared(tmp_path: Path) -> None:
    """Trip counts of loops that scalars decide, and those that the tool does not know."""
    write_all(tmp_path)
    edited("fc_Pipeline_write_csynth.xml", "<TripCount>7<", "<TripCount>1 ~ 7<")(tmp_path)
    read_reports([tmp_path], MANIFEST)
    edited("fc_Pipeline_write_csynth.xml", "<TripCount>1 ~ 7<", "<TripCount>6<")(tmp_path)
    sized = replace(KERNEL, schedule=(*LOOPS[:3], replace(LOOPS[3], size="seq<=7")))
    read_reports([tmp_path], replace(MANIFEST, kernels=(sized,)))
