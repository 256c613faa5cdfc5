"""The part of an emitted project that lets it be simulated without `stc`: headers and the instrumentation script."""

from __future__ import annotations

import shutil
from pathlib import Path

HERE = Path(__file__).parent
INCLUDE = HERE / "include"
INTERFACE = HERE / "interface"
INSTRUMENT = HERE / "instrument.py"


def copy_headers(destination: Path) -> None:
    """Write `destination/{include,interface}/*` and `destination/instrument.py`; what is there already is overwritten."""
    destination.mkdir(parents=True, exist_ok=True)
    shutil.copytree(INCLUDE, destination / "include", dirs_exist_ok=True)
    shutil.copytree(INTERFACE, destination / "interface", dirs_exist_ok=True)
    shutil.copyfile(INSTRUMENT, destination / "instrument.py")
