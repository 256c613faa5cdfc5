"""The part of an emitted project that lets it be simulated without `stc`: headers and the instrumentation script."""

from __future__ import annotations

import shutil
from pathlib import Path

HERE = Path(__file__).parent
INCLUDE = HERE / "include"
INTERFACE = HERE / "interface"
INSTRUMENT = HERE / "instrument.py"
FOLDER = "sim"
"""Where it stands in a project."""
AP_TYPES = "ap_types"
"""The folder of AMD's arbitrary precision types in it (stc.simulation.ap_types), in projects that use them."""


def copy_headers(destination: Path) -> None:
    """Write `destination/{include,interface}/*` and `destination/instrument.py`; what is there already is overwritten."""
    destination.mkdir(parents=True, exist_ok=True)
    shutil.copytree(INCLUDE, destination / "include", dirs_exist_ok=True)
    shutil.copytree(INTERFACE, destination / "interface", dirs_exist_ok=True)
    shutil.copyfile(INSTRUMENT, destination / "instrument.py")


def include_folders(project: Path) -> list[Path]:
    """Where the C simulation of a project looks for headers, in this order."""
    own = [project / FOLDER / "include", project / FOLDER / AP_TYPES]
    return [*(folder for folder in own if folder.is_dir()), project]
