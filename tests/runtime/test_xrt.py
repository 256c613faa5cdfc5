"""Hosts on XRT's own runtime, with the C simulation as the device: they compute, and each mistake is caught and named."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.platforms.platform import load_platform
from stc.runtime.shared_kernel import built_library
from stc.runtime.xrt import c_pyxrt
from stc.runtime.xrt.device import HEADERS, Simulated, has_card, open_xrt, simulated_device, simulates, vendor_driver
from stc.runtime.xrt.xclbin import HEADER_BYTES, MAGIC, SECTION_HEADER, Section, argument_offsets, write_xclbin
from stc_testing.commands import Stc, refused
from stc_testing.xrt import require_xrt

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]


@pytest.fixture(scope="module")
def project(emitted: Callable[[str], Path]) -> Path:
    require_xrt()
    return emitted("matmul")


@pytest.fixture(scope="module")
def simulated(project: Path) -> Simulated:
    return simulated_device(project)


def ended(simulated: Simulated, *command: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **simulated.environment}
    return subprocess.run([*command], env=environment, capture_output=True, text=True, check=False, timeout=60)


# The C++ host -----------------------------------------------------------------------------------------------------------

LAUNCH = "if (launch.wait() != ERT_CMD_STATE_COMPLETED)"
FAULTS: dict[str, tuple[dict[str, str], int, str]] = {
    "none": ({}, 0, ""),
    "nothing sent": (
        {"x_buffer[at].sync(XCL_BO_SYNC_BO_TO_DEVICE);": ""},
        2, "error: argument 'x' of fc_kernel is a buffer that nothing was sent to (sync TO_DEVICE)",
    ),
    "written again": (
        {"x_buffer[at].sync(XCL_BO_SYNC_BO_TO_DEVICE);":
         "x_buffer[at].sync(XCL_BO_SYNC_BO_TO_DEVICE); x_buffer[at].map<float *>()[0] += 1;"},
        2, "error: argument 'x' of fc_kernel is a buffer that the host has written to since it was sent (sync TO_DEVICE)",
    ),
    "nothing fetched": (
        {"y_buffer[at].sync(XCL_BO_SYNC_BO_FROM_DEVICE);": ""},
        1, "warning: results in fc_kernel.y were never fetched (sync FROM_DEVICE)",
    ),
    "another bank": (
        {"xrt::bo(device, 128, fc_kernel_kernel.group_id(0))": "xrt::bo(device, 128, 7)"},
        2, "error: argument 'x' of fc_kernel is a copy that XRT made, because the host's buffer lies in another bank than HBM[",
    ),
    "results in another bank": (
        {"xrt::bo(device, 128, fc_kernel_kernel.group_id(2))": "xrt::bo(device, 128, 31)"},
        2, "error: argument 'y' of fc_kernel is a copy that XRT made",
    ),
    "missing argument": (
        {"          fc_weight_buffer,\n          y_buffer[at]);": "          fc_weight_buffer);"},
        2, "error: argument 'y' of fc_kernel is not set",
    ),
    "exchanged arguments": (
        {"          x_buffer[at],\n          fc_weight_buffer,": "          fc_weight_buffer,\n          x_buffer[at],"},
        2, "of fc_kernel is a",
    ),
    "too small": (
        {"xrt::bo(device, 128, fc_kernel_kernel.group_id(2))": "xrt::bo(device, 64, fc_kernel_kernel.group_id(2))"},
        2, "error: argument 'y' of fc_kernel is a buffer of 64 bytes; the port takes 128",
    ),
    "not waited for": (
        {LAUNCH: "if (false)"},
        2, "error: sync FROM_DEVICE of a buffer that fc_kernel still writes: the host has not waited for the launch",
    ),
    "launched again": (
        {LAUNCH: "fc_kernel_kernel(x_buffer[at], fc_weight_buffer, y_buffer[at]); if (launch.wait() != ERT_CMD_STATE_COMPLETED)"},
        2, "error: fc_kernel is started while fc_kernel still runs, which uses the buffer of argument 'y' of fc_kernel",
    ),
    "computed again, and not fetched": (
        {"y_buffer[at].sync(XCL_BO_SYNC_BO_FROM_DEVICE);":
         "y_buffer[at].sync(XCL_BO_SYNC_BO_FROM_DEVICE); fc_kernel_kernel(x_buffer[at], fc_weight_buffer, y_buffer[at]).wait();"},
        0, "warning: results in fc_kernel.y were never fetched (sync FROM_DEVICE)",
    ),
    "started again": (
        {LAUNCH: "launch.start(); if (launch.wait() != ERT_CMD_STATE_COMPLETED)"},
        2, "error: bad command state, can't launch",
    ),
}
"""By what is wrong: what is replaced in host.cpp, the exit code, and what is said."""


@pytest.fixture(scope="module")
def hosts(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One program with the host of each fault, by its place in `FAULTS`: XRT's headers take longer to compile than all of them."""
    folder = tmp_path_factory.mktemp("hosts")
    text = (project / "host.cpp").read_text()
    lines = text.splitlines(keepends=True)
    parts = [line for line in lines if line.startswith("#include")]
    rest = "".join(line for line in lines if not line.startswith("#include"))
    for number, (changes, _, _) in enumerate(FAULTS.values()):
        changed = rest
        for old, new in changes.items():
            assert old in changed, old
            changed = changed.replace(old, new, 1)
        parts.append(f"namespace fault_{number} {{\n{changed.replace('int main(', 'int run_main(')}\n}}\n")
    call = "  if (number == {0}) return fault_{0}::run_main(argc - 1, argv + 1);\n"
    cases = "".join(call.format(number) for number in range(len(FAULTS)))
    parts.append(f"int main(int argc, char **argv) {{\n  const int number = std::atoi(argv[1]);\n{cases}  return 3;\n}}\n")
    (folder / "hosts.cpp").write_text("".join(parts))
    options = ["-std=c++17", f"-I{HEADERS}", f"-I{project}", "-lxrt_coreutil", "-pthread"]
    subprocess.run(["g++", folder / "hosts.cpp", "-o", folder / "hosts", *options], check=True)
    return folder / "hosts"


@pytest.mark.parametrize("fault", FAULTS)
def test_mistakes_of_a_host_are_named(hosts: Path, project: Path, simulated: Simulated, fault: str) -> None:
    _, code, said = FAULTS[fault]
    done = ended(simulated, hosts, str(list(FAULTS).index(fault)), simulated.xclbin, project)
    assert done.returncode == code and said in done.stderr, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("passed") == (code == 0), done.stdout
    assert sum(line.startswith("error:") for line in done.stderr.splitlines()) == (code == 2), done.stderr


def test_a_design_that_stops_is_told(project: Path, tmp_path: Path, stc: Stc) -> None:
    copy = shutil.copytree(project, tmp_path / "stuck", ignore=shutil.ignore_patterns("build"))
    kernel = copy / "kernel.cpp"
    kernel.write_text(kernel.read_text().replace("i < 12;", "i < 11;"))
    done = stc("run", copy, "--device", "xrt", "--host", "python")
    assert done.code == 2 and "x_stream" in done.stderr and "error: kernel fc_kernel ended in state" in done.stderr, done.stderr


# The Python host ----------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import host
xrt, device = host.open_device("xrt", host.Path(sys.argv[1]))
accelerator = host.Accelerator(sys.argv[1], xrt, device, None)
(handle, unit), = accelerator.units["fc_kernel"]
x, weight, y = (accelerator.buffers[name] for name in unit["ports"])
to_device = xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE
accelerator.send("x", accelerator.golden("input")["x"])
def buffer(size, bank):
    made = xrt.bo(device, size, xrt.bo.normal, bank)
    made.sync(to_device)
    return made
for action in (
    lambda: xrt.kernel(device, device.load_xclbin(xrt.xclbin(str(xrt.built_xclbin))), "other"),
    lambda: handle.group_id(9),
    lambda: handle(x, weight),
    lambda: handle(x, weight, y, 1),
    lambda: handle(buffer(64, handle.group_id(0)), weight, y),
    lambda: handle(buffer(128, 30), weight, y),
    lambda: handle(weight, x, y),
    lambda: handle(5, weight, y),
    lambda: xrt.bo(device, 1 << 30, xrt.bo.normal, 0),
    lambda: xrt.bo(device, 64, xrt.bo.normal, 32),
    lambda: x.sync(to_device, 129, 0),
    lambda: x.write(bytes(129)),
    lambda: x.read(1, 128),
):
    try:
        action()
        print("nothing was raised")
    except RuntimeError as error:
        print(error)
run = handle(x, weight, y)
for action in (run.start, lambda: handle(x, weight, y), lambda: x.sync(to_device)):
    try:
        action()
        print("nothing was raised")
    except RuntimeError as error:
        print(error)
print(run.wait().name)
for _ in range(2):  # its arguments are still there
    run.start()
    print(run.wait().name)
del run
try:
    handle(x, weight)
except RuntimeError as error:
    print(error)
print(*accelerator(accelerator.golden("input"))["y"].reshape(-1)[:2], y.address() % 4096, y.size())
"""

RAISED = """
No such kernel 'other': Invalid argument
kernel fc_kernel has no argument 9
argument 'y' of fc_kernel is not set
kernel fc_kernel has no argument 3
argument 'x' of fc_kernel is a buffer of 64 bytes; the port takes 128
argument 'x' of fc_kernel is a buffer in HBM[30]; the port is linked to HBM[{x}]
argument 'x' of fc_kernel is a buffer in HBM[{weight}]; the port is linked to HBM[{x}]
No such handle: Invalid argument
no room for a buffer of 1073741824 bytes in HBM[0], which has 536870912
the device has no memory bank 32
sync of 129 bytes at 0 of a buffer of 128
write of 129 bytes at 0 of a buffer of 128
read of 1 bytes at 128 of a buffer of 128
bad command state, can't launch
fc_kernel is started while fc_kernel still runs, which uses the buffer of argument 'y' of fc_kernel: the host has not waited for it
sync TO_DEVICE of a buffer that fc_kernel still uses: the host has not waited for the launch
ERT_CMD_STATE_COMPLETED
ERT_CMD_STATE_COMPLETED
ERT_CMD_STATE_COMPLETED
argument 'y' of fc_kernel is not set
"""


def test_mistakes_of_a_python_host_raise(project: Path, simulated: Simulated, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = ended(simulated, sys.executable, tmp_path / "program.py", project)
    assert done.returncode == 0, done.stdout + done.stderr
    *said, last = done.stdout.splitlines()
    (kernel,) = read_manifest(project).kernels
    expected = RAISED.format(x=kernel.port("x").bank, weight=kernel.port("fc_weight").bank).strip().splitlines()
    assert said == expected
    assert last.split()[2:] == ["0", "128"]


def test_host_py_computes(project: Path) -> None:
    done = subprocess.run([sys.executable, project / "host.py", "--device", "xrt"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "passed" in done.stdout and not done.stderr, done.stdout + done.stderr


def test_without_a_card(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XILINX_XRT", raising=False)
    with pytest.raises(RuntimeError, match=r"no card: XILINX_XRT, .* is not set; accepted: the vendor's XRT, or --device"):
        c_pyxrt.device(0)
    monkeypatch.setenv("XILINX_XRT", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"libxrt_core\.so\.2: file is missing"):
        c_pyxrt.device(0)


# The command, and the xclbin ----------------------------------------------------------------------------------------------

def test_run(project: Path, stc: Stc) -> None:
    for host, device in (("cpp", "xrt"), ("python", "xrt"), ("python", "csim")):
        done = stc("run", project, "--device", device, "--host", host)
        told = "C simulation behind XRT's runtime" if device == "xrt" else "C simulation"
        assert done.code == 0 and "y: largest error" in done.stdout and f"device: {told}; host: host." in done.stderr, done.stderr


REFUSED = {
    "device": (("--device", "gpu"), "--device gpu", "csim, xrt, or the index of a card"),
    "card": (("--device", "0"), "there is no card", "--device csim, or xrt"),
    "host": (("--host", "rust"), "--host rust", "cpp, python"),
    "native": (("--host", "cpp"), "host.cpp is written for XRT", "--device xrt, or --host python"),
    "no binary": (("--xclbin", "some.xclbin"), "--xclbin some.xclbin: C simulation loads no binary", "--device xrt"),
    "binary": (("--device", "xrt", "--xclbin", "none.xclbin"), "none.xclbin: no such file", "an xclbin of this project"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_run_refuses(project: Path, stc: Stc, case: str) -> None:
    arguments, *expected = REFUSED[case]
    refused(stc("run", project, *arguments), *expected)


def test_no_project(tmp_path: Path, stc: Stc) -> None:
    refused(stc("run", tmp_path, "--device", "xrt"), "no manifest.json here")


@pytest.mark.parametrize("host", ["cpp", "python"])
def test_a_binary_of_another_project(
    project: Path, emitted: Callable[[str], Path], tmp_path: Path, stc: Stc, host: str
) -> None:
    other = emitted("scaled_sum")
    write_xclbin(tmp_path / "other.xclbin", {other: read_manifest(other)}, load_platform("u55c").memory, [])
    done = stc("run", project, "--device", "xrt", "--host", host, "--xclbin", tmp_path / "other.xclbin")
    assert done.code == 2 and done.stderr.splitlines()[-1] == (
        f"error: {tmp_path / 'other.xclbin'}: not of this project; accepted: what `make xclbin` links"
    )
    manifest = read_manifest(project)
    (key,) = manifest.marks
    write_xclbin(tmp_path / "plain.xclbin", {project: replace(manifest, design="")}, load_platform("u55c").memory, [])
    with (tmp_path / "plain.xclbin").open("ab") as file:  # none of these is a mark
        file.write(f"stc- stc-work/fc_kernel-{'0' * 32} stc-fc_kernel-{'0' * 31} {key[:-1]}".encode())
    plain = stc("run", project, "--device", "xrt", "--host", host, "--xclbin", tmp_path / "plain.xclbin")
    added = f"`xclbinutil --input {tmp_path / 'plain.xclbin'} --key-value USER:{key}:1 --output MARKED.xclbin` adds it to one"
    assert plain.code == 2 and plain.stderr.splitlines()[-1] == (
        f"error: {tmp_path / 'plain.xclbin'}: without the mark of any project; accepted: what `make xclbin` links "
        f"({added} that was linked from this project)"
    )
    text = "".join(manifest.marks)
    (tmp_path / "broken.xclbin").write_text(f"no xclbin, but {text}")
    broken = stc("run", project, "--device", "xrt", "--host", host, "--xclbin", tmp_path / "broken.xclbin")
    assert broken.code == 2 and broken.stderr.splitlines()[-1].startswith("error: "), broken.stderr


def test_what_an_xclbin_says(project: Path, simulated: Simulated) -> None:
    """By XRT's definition of the file, read here anew."""
    data = simulated.xclbin.read_bytes()
    assert data.startswith(MAGIC) and struct.unpack_from("<Q", data, 304)[0] == len(data)
    count = struct.unpack_from("<I", data, HEADER_BYTES - 8)[0]
    headers = [SECTION_HEADER.unpack_from(data, HEADER_BYTES + SECTION_HEADER.size * index) for index in range(count)]
    sections = {Section(kind): data[offset : offset + size] for kind, _, offset, size in headers}
    assert set(sections) == set(Section) and all(offset % 8 == 0 for _, _, offset, _ in headers)
    manifest = read_manifest(project)
    (kernel,) = manifest.kernels
    links = struct.unpack_from("<9i", sections[Section.CONNECTIVITY], 4)
    assert links == tuple(number for index, port in enumerate(kernel.ports) for number in (index, 0, port.bank))
    assert b"fc_kernel:fc_kernel_1\0" in sections[Section.IP_LAYOUT] and b"HBM[31]\0" in sections[Section.MEM_TOPOLOGY]
    assert all(mark.encode() in sections[Section.KEYVALUE_METADATA] for mark in manifest.marks) and manifest.marks
    assert list(argument_offsets(kernel.built[0]).values()) == [0x10, 0x1C, 0x28]


@pytest.mark.parametrize(("table", "said"), [
    (b"mark m\nport x 128 r\n", "the xclbin has a library whose table has a port of no kernel"),
    (None, "the xclbin is not one of C simulation; accepted: what `stc run` builds"),
], ids=["table", "length"])
def test_a_broken_binary(project: Path, simulated: Simulated, tmp_path: Path, table: bytes | None, said: str,
                         monkeypatch: pytest.MonkeyPatch) -> None:
    """A library with another table than ours, and one whose length is beyond all memory."""
    library = tmp_path / "library.so"
    library.write_bytes(b"no library")
    if table is None:
        monkeypatch.setattr("stc.runtime.xrt.xclbin._bitstream", lambda _: struct.pack("<QQ", 1, 2**64 - 1))
    else:
        source = f'extern "C" {{ extern const char stc_kernels[]; const char stc_kernels[] = {json.dumps(table.decode())}; }}'
        (tmp_path / "library.cpp").write_text(source)
        subprocess.run(["g++", "-shared", "-fPIC", tmp_path / "library.cpp", "-o", library], check=True)
    write_xclbin(tmp_path / "a.xclbin", {project: read_manifest(project)}, load_platform("u55c").memory, [library])
    done = ended(simulated, sys.executable, project / "host.py", "--device", "xrt", "--xclbin", tmp_path / "a.xclbin")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"error: {said}"), done.stderr


def test_many_write_one_binary(project: Path, tmp_path: Path) -> None:
    projects, memory = {project: read_manifest(project)}, load_platform("u55c").memory
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: write_xclbin(tmp_path / "a.xclbin", projects, memory, []), range(40)))
    assert [file.name for file in tmp_path.iterdir()] == ["a.xclbin"]


def test_a_library_of_an_earlier_version_is_built_anew(
    project: Path, simulated: Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is newer than its sources, but has another table."""
    built: list[Path] = []
    monkeypatch.setattr("stc.runtime.shared_kernel._build", lambda folder, *_: built.append(folder))
    manifest = read_manifest(project)
    assert built_library(project, manifest) == project / "build" / "kernel.so" and not built
    monkeypatch.setattr("stc.runtime.shared_kernel._table", lambda _: "// as it was")
    built_library(project, manifest)
    monkeypatch.undo()
    monkeypatch.setattr("stc.runtime.shared_kernel._build", lambda folder, *_: built.append(folder))
    monkeypatch.setattr("stc.runtime.shared_kernel.FLAGS", ("-O0",))
    built_library(project, manifest)
    assert built == [project, project]


TOOLS = {
    "v++": """for last; do :; done
case "$last" in
  --version) echo "v++ v$TOOL_VERSION" ;;
  *.xo | *.xclbin) echo linked > "$last" ;;
  *) echo "$last: its extension"; exit 1 ;;
esac""",
    "xclbinutil": """echo "$@" > told; for last; do :; done; cp "$3" "$last" """,
}
"""Stand for the vendor's: `-o` and `--output` come last."""


def test_make_xclbin(project: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(project, tmp_path / "copy", ignore=shutil.ignore_patterns("build"))
    tools = tmp_path / "tools"
    tools.mkdir()

    def made(*names: str) -> subprocess.CompletedProcess[str]:
        for name in names:
            (tools / name).write_text(f"#!/bin/sh\n{TOOLS[name]}\n")
            (tools / name).chmod(0o755)
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "TOOL_VERSION": "2023.2"}
        command = ["make", "-C", copy, "xclbin", "TOOL_VERSION=2023.2"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    if shutil.which("xclbinutil") is None:
        done = made("v++")
        assert done.returncode != 0 and "xclbinutil is missing" in done.stderr and not list(copy.glob("build/*.xclbin"))
    done = made("v++", "xclbinutil")
    assert done.returncode == 0 and (copy / "build" / "matmul.xclbin").read_text() == "linked\n", done.stdout + done.stderr
    (mark,) = read_manifest(project).marks
    told = f"--force --input build/matmul.link.xclbin --key-value USER:{mark}:1 --output build/matmul.xclbin"
    assert (copy / "told").read_text().strip() == told


def test_kernels_of_one_name_are_no_binary(project: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(project, tmp_path / "copy", ignore=shutil.ignore_patterns("build"))
    projects = {folder: read_manifest(folder) for folder in (project, copy)}
    with pytest.raises(CompileError, match="kernels of two projects are called 'fc_kernel'"):
        write_xclbin(tmp_path / "a.xclbin", projects, load_platform("u55c").memory, [])


def test_a_wrong_connectivity_is_refused(project: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(project, tmp_path / "copy", ignore=shutil.ignore_patterns("build"))
    cfg, text = copy / "connectivity.cfg", (copy / "connectivity.cfg").read_text()
    manifest, memory = read_manifest(copy), load_platform("u55c").memory

    def write() -> None:
        write_xclbin(tmp_path / "a.xclbin", {copy: manifest}, memory, [])

    line = next(line for line in text.splitlines() if line.startswith("sp=") and ".x:" in line)
    beyond = text.replace(line, line.partition(":")[0] + ":HBM[32]")
    for changed, complaint in (
        (beyond, r"port 'x' of 'fc_kernel' is linked to HBM\[32\]; accepted: HBM\[0\] to"),
        (text.replace(line, ""), "port 'x' of 'fc_kernel' is linked to no bank"),
        (text.replace(line, "sp=x"), "the line 'sp=x'; accepted: sp=UNIT_1.PORT"),
    ):
        cfg.write_text(changed)
        with pytest.raises(CompileError, match=complaint):
            write()
    cfg.unlink()
    with pytest.raises(CompileError, match="no such file"):
        write()
    assert not (tmp_path / "a.xclbin").exists()


def test_devices_of_the_vendor(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A card, or an emulation of one that the environment chooses, which stays chosen."""
    (tmp_path / "0000:01:00.1").mkdir()
    monkeypatch.setattr("stc.runtime.xrt.device.CARDS", tmp_path)
    monkeypatch.delenv("XILINX_XRT", raising=False)
    for mode, card in (("", True), ("noop", False), ("hw_emu", True), ("sw_emu", True)):
        monkeypatch.setenv("XCL_EMULATION_MODE", mode)
        assert (has_card(), simulates()) == (card, not card)
    monkeypatch.setattr("stc.runtime.xrt.device.CARDS", tmp_path / "none")
    assert has_card() and not simulates()
    with pytest.raises(RuntimeError, match="no card: XILINX_XRT"):
        open_xrt(project)
    assert os.environ["XCL_EMULATION_MODE"] == "sw_emu"


def test_hosts_without_xrt(monkeypatch: pytest.MonkeyPatch, project: Path, tmp_path: Path) -> None:
    """Nor g++, for C simulation: one sentence of each."""
    (tmp_path / "sitecustomize.py").write_text("import stc.runtime.xrt.device\nstc.runtime.xrt.device.LIBRARY_FOLDERS = ()\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])))
    copy = shutil.copytree(project, tmp_path / "copy", ignore=shutil.ignore_patterns("build"))
    for arguments, said in (
        ([copy / "host.py", "--device", "xrt"], "error: XRT is not installed; accepted: Debian's packages"),
        (["-c", "from stc.tools.stc import main; main()", "run", copy, "--device", "xrt", "--host", "python"],
         "error: XRT is not installed; accepted: Debian's packages"),
        ([copy / "host.py", "--device", "csim"], "error: g++ is not installed; accepted: g++ with C++17"),
    ):
        environment = {**os.environ, "PATH": str(tmp_path)}
        done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith(said), done.stderr
        assert "Traceback" not in done.stderr


def test_without_xrt(monkeypatch: pytest.MonkeyPatch, project: Path, stc: Stc) -> None:
    monkeypatch.setattr("stc.runtime.xrt.device.LIBRARY_FOLDERS", ())
    with pytest.raises(CompileError, match="XRT is not installed; accepted: Debian's packages libxrt1 and libxrt-dev"):
        vendor_driver()
    refused(stc("run", project, "--device", "xrt"), "XRT is not installed", "or --device csim")
