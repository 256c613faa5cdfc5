"""Ctrl-C at any time: one line, exit code 130, no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("program", ["stc", "stc_opt"])
@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3, 0.5, 1.5])
def test_interrupted(program: str, seconds: float, tmp_path: Path) -> None:
    """`seconds` after the entry point was entered, which says so: what Python does before is not ours."""
    (tmp_path / "slow.py").write_text("import time\ndef f():\n    time.sleep(60)\n")
    arguments = ["compile", "--small", f"{tmp_path}/slow.py:f", "--out", str(tmp_path / "out")] if program == "stc" else ["-"]
    code = f"import sys; sys.argv = {[program, *arguments]!r}\n"
    code += f"from stc.tools.entry import {program}; import signal; old = signal.signal\n"
    code += f"signal.signal = lambda *a: (old(*a), print('entered', flush=True)); {program}()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "entered\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.strip() == f"{program.replace('_', '-')}: interrupted", said


def test_an_interrupt_that_a_destructor_swallows(tmp_path: Path) -> None:
    """Python loses an exception in `__del__`; the process must not end as if nobody had asked."""
    (tmp_path / "late.py").write_text(
        "import sys, time, torch\n"
        "class Late:\n"
        "    def __del__(self):\n"
        "        print('here', flush=True)\n"
        "        time.sleep(20)\n"
        "def f():\n"
        "    Late()\n"
        "    return torch.nn.ReLU(), (torch.ones(2, 3),)\n"
    )
    command = f"import sys; sys.argv = ['stc', 'check', '{tmp_path}/late.py:f']; from stc.tools.entry import stc; stc()"
    process = subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while process.stdout.readline() not in ("here\n", ""):
        pass
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and said.strip().endswith("stc: interrupted"), said
