"""AMD's own release of its arbitrary precision types (`ap_int.h`, `ap_fixed.h`): taken from the installed package hls4ml.

AMD publishes them under the Apache License 2.0, and hls4ml carries them unchanged. They are copied to where something is built that
uses them, with the licence, and nothing else of that package: its other headers are not the vendor's.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from stc.diagnostics import CompileError

PACKAGE = "hls4ml"
HEADERS = (
    "ap_common.h",
    "ap_decl.h",
    "ap_fixed.h",
    "ap_fixed_base.h",
    "ap_fixed_ref.h",
    "ap_fixed_special.h",
    "ap_int.h",
    "ap_int_base.h",
    "ap_int_ref.h",
    "ap_int_special.h",
    "etc/ap_private.h",
)
_IN_PACKAGE = "hls4ml/templates/vivado/ap_types"
_USED = re.compile(r"^\s*#\s*include\s*[<\"]ap_\w+\.h[>\"]", re.MULTILINE)
NOTICE = """The ap_*.h and etc/ap_private.h in this folder are AMD's HLS_arbitrary_Precision_Types
(https://github.com/Xilinx/HLS_arbitrary_Precision_Types), copyright 2011-2019 Xilinx, Inc., under the Apache License 2.0 (LICENSE),
copied unchanged from the Python package hls4ml {version}.
"""


def uses_ap_types(texts: Iterable[str]) -> bool:
    """Whether one of these C++ texts includes `ap_int.h`, `ap_fixed.h` or what includes them."""
    return any(_USED.search(text) for text in texts)


def ap_type_files() -> dict[str, Path]:
    """The installed headers by name, and "LICENSE"; CompileError where the package is not there or lacks one."""
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError:
        raise CompileError("ap_int.h is used, but not installed", accepted=f"the Python package {PACKAGE}, which has it") from None
    found = {name: Path(str(package.locate_file(f"{_IN_PACKAGE}/{name}"))) for name in HEADERS}
    found["LICENSE"] = _licence(package)
    if (missing := next((path for path in found.values() if not path.is_file()), None)) is not None:
        raise CompileError(f"{PACKAGE} {package.version} has no such file", where=str(missing), accepted=f"a {PACKAGE} that has")
    return found


def _licence(package: Distribution) -> Path:
    """Of the package itself, not of what else it carries."""
    paths = [path for path in package.files or () if path.name == "LICENSE" and path.parts[0].endswith(".dist-info")]
    return Path(str(paths[0].locate())) if paths else Path("LICENSE")


def copy_ap_types(destination: Path) -> None:
    """Write the headers, their licence and where they come from to `destination`; what is there already is overwritten."""
    for name, path in ap_type_files().items():
        target = destination / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    (destination / "NOTICE").write_text(NOTICE.format(version=distribution(PACKAGE).version))
