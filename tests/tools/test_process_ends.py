"""However the process ends in which a command does its work: its exit code is the command's, or it is said that there is none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stc.tools.entry import RARELY

ENDED = "stc: error: the process ended before it had a result ({}); accepted: models whose Python code"


def started(tmp_path: Path, body: str) -> subprocess.Popen[str]:
    """The entry point `stc` with another module as its work: `main` runs `body`."""
    (tmp_path / "work.py").write_text("import atexit, ctypes, os, signal, sys, time\ndef main():\n    " + body)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from stc.tools import entry; entry._run('stc', 'work')"
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ("os._exit(0)", "with exit code 0"),
        ("ctypes.CDLL(None)._exit(0)", "with exit code 0"),
        ("ctypes.CDLL(None).exit(3)", "with exit code 3"),
        ("os.execv('/bin/true', ['true'])", "with exit code 0"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "by signal 9, Killed"),
        ("ctypes.string_at(0)", "by signal 11, Segmentation fault"),
        ("os.fork() or time.sleep(30); os._exit(0)", "with exit code 0"),
    ],
)
def test_an_end_without_a_result_is_told(tmp_path: Path, body: str, how: str) -> None:
    """Also where a process of its own lives on."""
    begin = time.perf_counter()
    process = started(tmp_path, body)
    _, said = process.communicate(timeout=20) if "fork" not in body else ("", process.stderr and process.stderr.readline())
    assert process.wait(timeout=20) == 2 and time.perf_counter() - begin < 20
    assert said is not None and said.startswith(ENDED.format(how)) and said.count("\n") == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("sys.exit(1)", 1),
        ("print('said')", 0),
        ("atexit.register(os._exit, 0); print('said'); sys.exit(2)", 2),
        ("atexit.register(lambda: ctypes.CDLL(None)._exit(7)); print('said')", 0),
        ("sys.exit('a sentence')", 1),
        ("raise ValueError", 1),
    ],
)
def test_the_exit_code_is_that_of_the_work(tmp_path: Path, body: str, code: int) -> None:
    """Whatever is done at exit, and what was printed is printed."""
    process = started(tmp_path, body)
    printed, _ = process.communicate(timeout=20)
    assert process.returncode == code and printed == ("said\n" if "said" in body else "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_work_ends_with_the_command(tmp_path: Path, number: signal.Signals) -> None:
    process = started(tmp_path, "print(os.getpid(), flush=True); time.sleep(60)")
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.send_signal(number)
    _, said = process.communicate(timeout=20)  # ends where the child does, which has the other ends
    assert process.returncode in (-9, 128 + number) and said == "" and not Path(f"/proc/{child}/exe").exists()


ENDS = """import ctypes, torch
def f():
    ctypes.CDLL(None)._exit(0)
def overflows():
    torch.div(torch.full((3,), -2**63), torch.full((3,), -1), rounding_mode="trunc")
class Inner(torch.nn.Module):
    def forward(self, x):
        return torch.div(x, torch.full((3,), -1), rounding_mode="trunc")
def inner():
    return torch.nn.Sequential(torch.nn.Identity(), Inner()), (torch.full((3,), -2**63),)
"""


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("f", "ends.py:f ended the process (with exit code 0); accepted: models"),
        pytest.param(
            "overflows",
            "ends.py:overflows ended the process (by signal 8, Floating point exception); accepted: models",
            marks=pytest.mark.full,  # the ends of `inner` and of `f` in one
        ),
        ("inner", "inner, module 1 ended the process (by signal 8, Floating point exception); accepted: models"),
    ],
)
def test_what_ends_the_process_is_named(tmp_path: Path, factory: str, said: str) -> None:
    (tmp_path / "ends.py").write_text(ENDS)
    program = [sys.executable, "-c", "from stc.tools.entry import stc; stc()"]
    command = [*program, "compile", "--small", f"{tmp_path}/ends.py:{factory}", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2 and said in done.stderr and not (tmp_path / "out").exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_standard_stream_that_is_closed(tmp_path: Path, closed: str) -> None:
    """Reads as empty, takes what is written, and no file or pipe of ours is in its place, also not in a process of the work."""
    told = tmp_path / "told"
    body = f"""
    import subprocess
    said = sys.stdin.read() if "<" in {closed!r} else ""
    print("out", flush=True), print("err", file=sys.stderr)
    open({str(told)!r}, "w").write(said + str([os.fstat(n).st_rdev == os.stat(os.devnull).st_rdev for n in (0, 1, 2)]))
    sys.exit(subprocess.run(["sh", "-c", "echo x && echo y >&2 && cat"], check=False).returncode)"""
    (tmp_path / "work.py").write_text("import os, sys\ndef main():\n    " + body)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from stc.tools import entry; entry._run('stc', 'work')"
    command = ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, code]
    done = subprocess.run(command, stdin=subprocess.PIPE, capture_output=True, text=True, timeout=20, check=False)
    marks = ("<&-" in closed, " >&-" in f" {closed}", "2>&-" in closed)
    assert (done.returncode, told.read_text()) == (0, str(list(marks))), done.stderr
    assert done.stdout == ("" if marks[1] else "out\nx\n") and done.stderr == ("" if marks[2] else "err\ny\n")


@pytest.mark.heavy
@pytest.mark.parametrize("arguments", [("stc", "--help"), ("stc_opt", "--list-passes")])
def test_a_reader_that_has_gone_is_no_failure_of_ours(arguments: tuple[str, str]) -> None:
    """As of a program that SIGPIPE ends, and without a word."""
    entry, argument = arguments
    reader, writer = os.pipe()
    os.close(reader)
    code = f"import sys; sys.argv[1:] = [{argument!r}]; from stc.tools.entry import {entry}; {entry}()"
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_garbage_is_looked_for_rarely(tmp_path: Path) -> None:
    """Looking through IR, a graph of cycles, as often as Python does is a quarter of a compile."""
    printed, _ = started(tmp_path, "import gc; print(gc.get_threshold()[0], gc.isenabled())").communicate(timeout=20)
    assert printed == f"{RARELY} True\n" and RARELY > 100_000
