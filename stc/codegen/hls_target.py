"""kernel.cpp as a target of xDSL's tools: `stc-opt -t hls-cpp`, and plain `xdsl-opt -t hls-cpp` through our universe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from stc.codegen.design import checked_design
from stc.codegen.hls import print_hls
from stc.diagnostics import CompileError
from stc.platforms.platform import DEFAULT_PLATFORM, load_platform


def hls_cpp(module: ModuleOp, platform: str = DEFAULT_PLATFORM) -> str:
    """kernel.cpp of a module at the last level, as `stc compile` emits it. CompileError where it breaks an emission rule."""
    return print_hls(checked_design(module, load_platform(platform))).source


@dataclass(frozen=True)
class HlsCppTarget(Target):
    """Print kernel.cpp of a module at the last level.

    Options: `platform`: the device whose rules it keeps.
    """

    name = "hls-cpp"

    platform: str = DEFAULT_PLATFORM

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """DiagnosticException for constants that xDSL's own parser, which has read the module, may have changed."""
        if (found := next((op for op in module.walk() if _has_dense_floats(op)), None)) is not None:
            what = f"'{found.name}' op has a dense constant of floats, which xDSL's parser reads inexactly"
            raise DiagnosticException(f"{what}; accepted: stc-opt -t {self.name}")
        try:
            output.write(hls_cpp(module, self.platform))
        except CompileError as error:
            raise DiagnosticException(str(error)) from None


@dataclass(frozen=True)
class ExactHlsCppTarget(HlsCppTarget):
    """Print kernel.cpp of a module at the last level.

    Options: `platform`: the device whose rules it keeps.
    """

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """The module was read exactly. CompileError where it breaks an emission rule."""
        output.write(hls_cpp(module, self.platform))


def _has_dense_floats(op: Operation) -> bool:
    entries = (*op.attributes.values(), *op.properties.values())
    return any(isinstance(entry, DenseIntOrFPElementsAttr) and isinstance(entry.get_element_type(), AnyFloat) for entry in entries)
