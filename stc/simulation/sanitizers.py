"""The C simulation under AddressSanitizer and UndefinedBehaviorSanitizer: how it is built and run, what they say in a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from stc.simulation.program_run import ProgramRun

LINKED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FLAGS = (*LINKED, "-g1", "-fno-omit-frame-pointer")
OPTIMISATION = 1
"""g++'s level: more costs minutes to build, and lines become less certain."""
# Tasks that a failure abandons, and what a testbench never frees, are no fault of the design.
ENVIRONMENT: Mapping[str, str] = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=1:color=never",
    "UBSAN_OPTIONS": "color=never",
}

_UNDEFINED = re.compile(r"(?P<where>\S+:\d+):\d+: runtime error: (?P<what>.*)")
_ADDRESS = re.compile(r"==\d+==ERROR: AddressSanitizer: (?P<what>[\w-]+)")
_ACCESS = re.compile(r"^((?:READ|WRITE) of size \d+)", re.MULTILINE)
_FRAME = re.compile(r"^ *#\d+ 0x[0-9a-f]+ in (?P<function>.*) (?P<where>/?[^ :()]+:\d+)(?::\d+)?$", re.MULTILINE)
_LIBRARIES = re.compile(r"/include/|libsanitizer/|^/usr/")


def told(run: ProgramRun) -> ProgramRun:
    """A run that a sanitizer ended, with its first complaint as a sentence; any other run as it is."""
    if run.report is not None or run.failure is None:
        return run
    text = _undefined(run.failure) or _address(run.failure)
    return run if text is None else replace(run, outcome="error", failure=text)


def _undefined(report: str) -> str | None:
    found = _UNDEFINED.search(report)
    return found and f"{found['where']}: {found['what']} (UndefinedBehaviorSanitizer)"


def _address(report: str) -> str | None:
    """The kind of error, and the line and function of the design; functions of libraries and headers are none."""
    found = _ADDRESS.search(report)
    if found is None:
        return None
    frame = next((frame for frame in _FRAME.finditer(report) if not _LIBRARIES.search(frame["where"])), None)
    access = _ACCESS.search(report)
    where, inside = (f"{frame['where']}: ", f", in {frame['function']}") if frame else ("", "")
    return f"{where}{found['what']}{f', {access[1]}' if access else ''}{inside} (AddressSanitizer)"
