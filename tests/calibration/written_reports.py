"""Reports as the vendor's tools write them, of a design of ours: our estimates in their structure, changed where a test wants it.

The structure was learnt from reports that are in public repositories: `csynth.xml` of Vitis HLS 2022.2 and `*_cosim.rpt` in
BrunoMor99/Taffo-VitisHLS, `*_timing_summary_routed.rpt` and `*_utilization_placed.rpt` of Vivado in
zli87/High_Level_Synthesis_for_FPGAs, the columns of `*_kernel_util_routed.rpt` from scripts that read it. No tool made these.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stc.manifest.schema import Kernel, LoopSchedule, Manifest, TaskResources
from stc.simulation.profile import OUTLINED

Figures = Mapping[tuple[str, str], tuple[int, int]]
"""II and depth by task and label, in place of ours."""


def write_synthesis(folder: Path, manifest: Manifest, figures: Figures | None = None, clock_ns: float = 4.0,
                    estimated_ns: float = 2.92) -> None:
    """`csynth.xml` of each top function, and a file for each module: pipelined loops are in modules of their own."""
    for kernel, unit in [(one, unit) for one in manifest.kernels for unit in one.built]:
        place = folder / "csynth" / unit.name
        place.mkdir(parents=True)
        tasks = [task for task in kernel.tasks if task.name in unit.tasks]
        summary = "\n".join(_module(task.name, "", task.resources) for task in tasks)
        total = f"<ModuleInformation>{summary}</ModuleInformation>"
        area = TaskResources(9, 8000, 7000, 6, 0)
        (place / "csynth.xml").write_text(_profile(unit.name, clock_ns, estimated_ns, "", area, total))
        for task in tasks:
            (place / f"{task.name}_csynth.xml").write_text(_profile(task.name, clock_ns, estimated_ns, "", task.resources))
        for loop in kernel.schedule:
            if loop.ii is not None and loop.task in unit.tasks:
                nest = _nest(kernel, loop)
                name = "_".join(one.label for one in reversed(nest))
                ii, depth = (figures or {}).get((loop.task, loop.label), (loop.ii, loop.depth or 1))
                module = f"{loop.task}{OUTLINED}{name}"
                text = _profile(module, clock_ns, estimated_ns, _loop(name, nest, ii, depth), None)
                (place / f"{module}_csynth.xml").write_text(text)


def _nest(kernel: Kernel, loop: LoopSchedule) -> list[LoopSchedule]:
    """The loop and those that it is flattened with, the innermost first."""
    loops = {other.label: other for other in kernel.schedule if other.task == loop.task}
    nest = [loop]
    while nest[-1].parent is not None and loops[nest[-1].parent].flattened:
        nest.append(loops[nest[-1].parent])
    return nest


def _loop(name: str, nest: list[LoopSchedule], ii: int, depth: int) -> str:
    trips = 1
    for loop in nest:
        trips *= loop.trip
    return (f"<{name}>\n<Slack>2.92</Slack>\n<TripCount>{trips}</TripCount>\n<Latency>{(trips - 1) * ii + depth - 1}</Latency>\n"
            f"<PipelineII>{ii}</PipelineII>\n<PipelineDepth>{depth}</PipelineDepth>\n<InstanceList>\n</InstanceList>\n</{name}>")


def _profile(top: str, clock: float, estimated: float, loops: str, resources: TaskResources | None, behind: str = "") -> str:
    return f"""<profile>

<ReportVersion>
<Version>2023.2</Version>
</ReportVersion>

<UserAssignments>
<unit>ns</unit>
<ProductFamily>virtexuplusHBM</ProductFamily>
<Part>xcu55c-fsvh2892-2L-e</Part>
<TopModelName>{top}</TopModelName>
<TargetClockPeriod>{clock:.2f}</TargetClockPeriod>
<ClockUncertainty>{0.27 * clock:.2f}</ClockUncertainty>
<FlowTarget>vitis</FlowTarget>
</UserAssignments>

<PerformanceEstimates>
<PipelineType>no</PipelineType>
<SummaryOfTimingAnalysis>
<unit>ns</unit>
<EstimatedClockPeriod>{estimated:.3f}</EstimatedClockPeriod>
</SummaryOfTimingAnalysis>
<SummaryOfOverallLatency>
<unit>clock cycles</unit>
<Best-caseLatency>120</Best-caseLatency>
<Worst-caseLatency>{"undef" if loops else 340}</Worst-caseLatency>
</SummaryOfOverallLatency>
{f"<SummaryOfLoopLatency>{loops}</SummaryOfLoopLatency>" if loops else ""}
</PerformanceEstimates>
{_area(resources)}{behind}
<InterfaceSummary>
<RtlPorts>
<name>ap_clk</name>
<Object>{top}</Object>
</RtlPorts>
</InterfaceSummary>
</profile>
"""


def _module(name: str, loops: str, resources: TaskResources | None) -> str:
    summary = f"<SummaryOfLoopLatency>{loops}</SummaryOfLoopLatency>"
    return f"<Module><Name>{name}</Name><PerformanceEstimates>{summary}</PerformanceEstimates>{_area(resources)}</Module>"


def _area(resources: TaskResources | None) -> str:
    one = resources or TaskResources(0, 0, 0, 0, 0)
    return (f"\n<AreaEstimates>\n<Resources>\n<BRAM_18K>{one.bram18}</BRAM_18K>\n<DSP>{one.dsp}</DSP>\n<FF>{one.ff}</FF>\n"
            f"<LUT>{one.lut}</LUT>\n<URAM>{one.uram}</URAM>\n</Resources>\n</AreaEstimates>\n")


def write_cosimulation(folder: Path, kernel: str, cycles: int, status: str = "Pass") -> None:
    """`KERNEL_cosim.rpt`."""
    folder.mkdir(parents=True, exist_ok=True)
    rule = f"+{'-' * 10}+{'-' * 10}+{'-' * 47}+{'-' * 47}+{'-' * 22}+"
    numbers = "|".join(f"{cycles:15}" for _ in range(3))
    (folder / f"{kernel}_cosim.rpt").write_text(f"""Report time       : Sun Feb 25 12:21:52 AM CET 2024.
Solution          : solution.
Simulation tool   : xsim.

{rule}
|          |          |             Latency(Clock Cycles)             |              Interval(Clock Cycles)           | Total Execution Time |
+   RTL    +  Status  +-----------------------------------------------+-----------------------------------------------+    (Clock Cycles)    +
|          |          |      min      |      avg      |      max      |      min      |      avg      |      max      |                      |
{rule}
|      VHDL|        NA|             NA|             NA|             NA|             NA|             NA|             NA|                    NA|
|   Verilog|{status:>10}|{numbers}|             NA|             NA|             NA|{cycles:22}|
{rule}
""")  # noqa: E501


def write_timing(folder: Path, wns: float, name: str = "impl_1_timing_summary_routed.rpt") -> None:
    """A summary of two clocks: the kernel's, which is the worst, and one of the shell."""
    folder.mkdir(parents=True, exist_ok=True)
    failing = 0 if wns >= 0 else 37
    (folder / name).write_text(f"""Copyright 1986-2022 Xilinx, Inc. All Rights Reserved. Copyright 2022-2023 Advanced Micro Devices, Inc. All Rights Reserved.
----------------------------------------------------------------------------------------------------------------------
| Tool Version      : Vivado v.2023.2 (lin64) Build 4029153 Fri Oct 13 20:13:54 MDT 2023
| Design            : level0_wrapper
| Design State      : Routed
----------------------------------------------------------------------------------------------------------------------

------------------------------------------------------------------------------------------------
| Design Timing Summary
| ---------------------
------------------------------------------------------------------------------------------------

    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)      THS(ns)  THS Failing Endpoints  THS Total Endpoints
    -------      -------  ---------------------  -------------------      -------      -------  ---------------------  -------------------
     {wns:6.3f}       {min(0.0, 11 * wns):6.3f}        {failing:13}                  723        0.022        0.000                      0                  723


------------------------------------------------------------------------------------------------
| Clock Summary
| -------------
------------------------------------------------------------------------------------------------

Clock                         Waveform(ns)         Period(ns)      Frequency(MHz)
-----                         ------------         ----------      --------------
clk_kernel_00_unbuffered_net  {{0.000 2.000}}        4.000           250.000
pcie_refclk                   {{0.000 5.000}}        10.000          100.000


------------------------------------------------------------------------------------------------
| Intra Clock Table
| -----------------
------------------------------------------------------------------------------------------------

Clock                             WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints
-----                             -------      -------  ---------------------  -------------------
clk_kernel_00_unbuffered_net      {wns:6.3f}       {min(0.0, 11 * wns):6.3f}        {failing:13}                  700
pcie_refclk                         2.479        0.000                      0                   23


""")  # noqa: E501


def write_kernel_utilisation(folder: Path, kernel: str, count: TaskResources) -> None:
    """`impl_1_kernel_util_routed.rpt`: BRAM is in tiles of 36 kbit."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = [f"{number:6} [  1.00%]" for number in (count.lut, count.lut // 10, count.ff, count.bram18 / 2, count.uram, count.dsp)]
    rows = {"Platform": ["123374 [ 10.46%]"] * 6, "User Budget": ["999999 [100.00%]"] * 6, "   Used Resources": cells,
            kernel: cells, f"   {kernel}_1": cells}  # fmt: skip
    head = ["Name", "LUT", "LUTAsMem", "REG", "BRAM", "URAM", "DSP"]
    rule = "+" + "+".join("-" * 20 for _ in head) + "+"
    lines = [rule, _row(head), rule, *(_row([name, *row]) for name, row in rows.items()), rule]
    (folder / "impl_1_kernel_util_routed.rpt").write_text("\n".join(lines) + "\n")


def write_device_utilisation(folder: Path) -> None:
    """`impl_1_full_util_routed.rpt`, with names and asterisks as for UltraScale+."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [["Site Type", "Used", "Fixed", "Available", "Util%"], ["CLB LUTs*", "240001", "0", "1303680", "18.4"],
            ["  LUT as Logic", "200000", "0", "1303680", "15.3"], ["CLB Registers", "300002", "0", "2607360", "11.5"],
            ["Block RAM Tile", "297.5", "0", "2016", "14.8"], ["URAM", "3", "0", "960", "0.3"],
            ["DSPs", "1588", "4", "9024", "17.6"]]
    design = "| Design       : level0_wrapper\n| Design State : Routed\n"
    (folder / "impl_1_full_util_routed.rpt").write_text(design + "\n".join(map(_row, rows)) + "\n")


def _row(cells: list[str]) -> str:
    return "|" + "|".join(f" {cell:18} " for cell in cells) + "|"
