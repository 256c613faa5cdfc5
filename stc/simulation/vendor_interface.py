"""Whether a kernel uses only what the vendor documents: compiled against declarations of exactly that, without making code.

`interface/README.md` says where each declaration was read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from stc.simulation.ap_types import copy_ap_types, uses_ap_types
from stc.simulation.build import compiler_path, run_compiler
from stc.simulation.package import AP_TYPES, INTERFACE

# C++14 is what Vitis HLS compiles. Pragmas are for the tool alone.
FLAGS = ("-std=c++14", "-fsyntax-only", "-w")


def check_interface(texts: Mapping[str, str], source: str = "kernel.cpp") -> bool:
    """CompileError where `source`, of the files `texts`, uses what is not declared; False where there is no compiler to ask."""
    compiler = compiler_path()
    if compiler is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        command = [compiler, *FLAGS, "-I", str(INTERFACE), "-I", folder, str(Path(folder) / source)]
        if uses_ap_types(texts.values()):
            copy_ap_types(Path(folder) / AP_TYPES)
            command += ["-I", str(Path(folder) / AP_TYPES)]
        run_compiler(command, Path(source), "the vendor's headers do not have this")
    return True
