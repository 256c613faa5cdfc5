"""`stc` compiles PyTorch models into stream-scheduled FPGA accelerators.

From Python: `stc.compile(module, inputs)`, which gives a `Design`, and `stc.compile_model(model)`, which gives a whole language
model, a `CompiledModel`; `stc.explored_model(model)` for a search of one's own (`stc.api`). Importing this package imports nothing
else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stc.api import CompiledModel, Design, compile, compile_model, explored_model

__all__ = ["CompiledModel", "Design", "compile", "compile_model", "explored_model"]


def __getattr__(name: str) -> Any:
    """What `stc.api` has, imported when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'stc' has no attribute '{name}'")
    from stc import api

    return getattr(api, name)
