"""Measured figures in place of estimates: three forms of file, what they change, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.manifest.schema import SCHEMA_VERSION, Kernel, LoopSchedule, Manifest, Task, TaskResources
from stc.simulation.profile import read_profile, with_profile
from stc.simulation.timing_table import SimulationOptions, timing_table

SAMPLE = Path(__file__).parent / "data" / "csynth.xml"


def loop(label: str, parent: str | None, ii: int | None, flattened: bool = False) -> LoopSchedule:
    return LoopSchedule("fc", label, parent, 4, ii, 11 if ii else None, 1, flattened, {}, {}, (), "estimated", "addf 7")


LOOPS = (loop("tile", None, None), loop("mac_k", "tile", None, flattened=True), loop("mac", "mac_k", 1), loop("write", "tile", 1))
KERNEL = Kernel("top", (), (Task("fc", "compute", None, (), (), resources=TaskResources(80, 900, 800, 4, 0)),
                            Task("store", "store", None, (), ())), (), (), LOOPS)
MANIFEST = Manifest(SCHEMA_VERSION, "m", "u55c", (KERNEL,), (), (), 1e-4, {}, {}, {"schedule.ii": "requested"})


def measured(path: Path) -> dict[str, LoopSchedule]:
    manifest = with_profile(MANIFEST, read_profile(path, MANIFEST))
    return {entry.label: entry for entry in manifest.kernels[0].schedule}


@pytest.mark.parametrize("name", ["mac", "mac_k_mac"])
@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_loop_is_named_by_its_label_or_its_nest(tmp_path: Path, form: str, name: str) -> None:
    path = tmp_path / f"figures.{form}"
    rows = [{"task": "fc", "loop": name, "ii": 2, "depth": 19}]
    path.write_text(json.dumps({"loops": rows}) if form == "json" else f"task,loop,ii,depth\nfc,{name},2,19\n")
    loops = measured(path)
    assert (loops["mac"].ii, loops["mac"].depth) == (2, 19) and loops["mac"].limit == f"measured (vendor report {path})"
    assert loops["write"] == LOOPS[3] and loops["tile"] == LOOPS[0]


def test_a_name_that_several_loops_may_have(tmp_path: Path) -> None:
    """`mac_k_mac` is the nest of mac in mac_k; a loop that is labelled so is that one; two nests of that name are told apart."""
    path = tmp_path / "figures.json"
    path.write_text(json.dumps({"loops": [{"task": "fc", "loop": "mac_k_mac", "ii": 2, "depth": 19}]}))
    labelled = (*LOOPS, loop("mac_k_mac", "tile", 1))
    manifest = replace(MANIFEST, kernels=(replace(KERNEL, schedule=labelled),))
    found = {entry.label: entry.ii for entry in with_profile(manifest, read_profile(path, manifest)).kernels[0].schedule}
    assert (found["mac"], found["mac_k_mac"]) == (1, 2)
    outer = (loop("a_b", None, None, flattened=True), loop("a", None, None, flattened=True))
    manifest = replace(MANIFEST, kernels=(replace(KERNEL, schedule=(*outer, loop("c", "a_b", 1), loop("b_c", "a", 1))),))
    path.write_text(json.dumps({"loops": [{"task": "fc", "loop": "a_b_c", "ii": 2, "depth": 19}]}))
    with pytest.raises(CompileError, match="'a_b_c' may be each of the loops c, b_c of task 'fc'; accepted: one of these labels"):
        read_profile(path, manifest)


def test_a_vendor_report() -> None:
    manifest = with_profile(MANIFEST, read_profile(SAMPLE, MANIFEST))
    assert manifest.kernels[0].schedule == (*LOOPS[:2], replace(LOOPS[2], ii=2, depth=19, chain=None,
                                            limit=f"measured (vendor report {SAMPLE})"), LOOPS[3])
    assert manifest.kernels[0].tasks[0].resources == TaskResources(5, 1100, 1200, 2, 0)
    assert manifest.kernels[0].tasks[1] == KERNEL.tasks[1]
    assert manifest.origins["schedule.ii"].startswith("1 of 2 loops measured (vendor report")
    table = timing_table(MANIFEST, SimulationOptions(profile=read_profile(SAMPLE, MANIFEST), depth_error=2))
    assert "loop fc mac 2 38" in table and "loop fc write 1 22" in table


def test_resources_from_json(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    path.write_text(json.dumps({"resources": [{"task": "fc", "dsp": 7}]}))
    manifest = with_profile(MANIFEST, read_profile(path, MANIFEST))
    assert manifest.kernels[0].tasks[0].resources == TaskResources(7, 900, 800, 4, 0)
    assert manifest.origins["tasks.resources"].startswith("1 of 2 tasks measured (vendor report")
    assert manifest.origins["schedule.ii"].startswith("0 of 2 loops measured")


LOOP = {"task": "fc", "loop": "mac", "ii": 1, "depth": 9}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.json", json.dumps({"loops": [LOOP | {"task": "gc"}]}), "no task is called 'gc'; accepted: fc, store"),
        ("p.json", json.dumps({"loops": [LOOP | {"loop": "mak"}]}), "no pipelined loop 'mak'; accepted: mac, mac_k_mac"),
        ("p.json", json.dumps({"loops": [LOOP | {"loop": "tile"}]}), "no pipelined loop 'tile'"),
        ("p.json", json.dumps({"loops": [LOOP | {"ii": 0}]}), "ii of 'mac' is 0; accepted: at least 1"),
        ("p.json", json.dumps({"loops": [LOOP | {"depth": -3}]}), "depth of 'mac' is -3"),
        ("p.json", json.dumps({"loops": [LOOP | {"depth": 1.5}]}), "depth of fc.mac is 1.5; accepted: an integer"),
        ("p.json", json.dumps({"loops": [LOOP, LOOP]}), "comes twice"),
        ("p.json", json.dumps({"loops": [LOOP, LOOP | {"loop": "mac_k_mac", "ii": 2}]}), "loop 'mac' of task 'fc' comes twice"),
        ("p.json", json.dumps({"loops": [LOOP | {"interval": 3}]}), "unknown column 'interval' of a loop; accepted: task, loop"),
        ("p.json", json.dumps({"resources": [{"task": "fc", "dsp": 1}, {"task": "fc", "lut": 2}]}), "of task 'fc' come twice"),
        ("p.csv", "task,loop,ii,depth\nfc,mac,1,9,7\n", "unknown column 'None' of a loop"),
        ("p.json", json.dumps({"loops": [{"task": "fc"}]}), "'loop' is None"),
        ("p.json", json.dumps({"loops": 3}), "'loops' is no list"),
        ("p.json", json.dumps([LOOP]), "not a profile"),
        ("p.json", "{", "not valid JSON"),
        ("p.json", json.dumps({"resources": [{"task": "fc", "dsps": 1}]}), "unknown resource 'dsps'; accepted: dsp"),
        ("p.json", json.dumps({"resources": [{"task": "fc", "dsp": -1}]}), "dsp of 'fc' is -1"),
        ("p.json", json.dumps({"resources": [{"task": "gc", "dsp": 1}]}), "no task is called 'gc'"),
        ("p.csv", "loop,ii\nmac,1\n", "the header is loop,ii; accepted: task,loop,ii,depth"),
        ("p.csv", "task,loop,ii,depth\nfc,mac,one,9\n", "ii of fc.mac is 'one'"),
        ("p.csv", "task,loop,ii,depth\nfc,mac,1\n", "depth of fc.mac is None"),
        ("p.xml", "<profile>", "not valid XML"),
        ("p.xml", "<profile/>", "no pipelined loop in it"),
        ("p.xml", SAMPLE.read_text().replace("fc_Pipeline", "gc_Pipeline"), "module 'gc_Pipeline_mac_k_mac' has pipelined loops"),
        ("p.xml", SAMPLE.read_text().replace("<PipelineDepth>19</PipelineDepth>", ""), "depth of fc.mac_k_mac is None"),
        ("p.txt", "", "a profile ending in '.txt'; accepted: .json, .csv"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(CompileError) as refusal:
        read_profile(path, MANIFEST)
    assert said in str(refusal.value) and str(path) in str(refusal.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="cannot read the profile"):
        read_profile(tmp_path / "none.json", MANIFEST)
