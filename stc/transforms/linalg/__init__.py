"""Passes on linalg over tensors: one form, one precision, loops that show the model's heads, few generics, readable names."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from xdsl.passes import ModulePass


def _lazy(module: str, name: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        return getattr(importlib.import_module(f"stc.transforms.linalg.{module}"), name)

    return load


LINALG_PASSES: dict[str, Callable[[], type[ModulePass]]] = {
    "generalize-named-ops": _lazy("generalize_named_ops", "GeneralizeNamedOpsPass"),
    "demote-f64": _lazy("demote_f64", "DemoteF64Pass"),
    "inline-constants": _lazy("inline_constants", "InlineConstantsPass"),
    "expand-powers": _lazy("expand_powers", "ExpandPowersPass"),
    "drop-unused-results": _lazy("drop_unused_results", "DropUnusedResultsPass"),
    "drop-unit-dims": _lazy("drop_unit_dims", "DropUnitDimsPass"),
    "fold-fills": _lazy("fold_fills", "FoldFillsPass"),
    "fold-transposes": _lazy("fold_transposes", "FoldTransposesPass"),
    "propagate-reshapes": _lazy("propagate_reshapes", "PropagateReshapesPass"),
    "fuse-elementwise": _lazy("fuse_elementwise", "FuseElementwisePass"),
    "share-subexpressions": _lazy("share_subexpressions", "ShareSubexpressionsPass"),
    "name-ops": _lazy("name_ops", "NameOpsPass"),
    "apply-schedule": _lazy("apply_schedule", "ApplySchedule"),
    "default-tile-size": _lazy("default_tile_size", "DefaultTileSize"),
    "tile-linalg": _lazy("tile_linalg", "TileLinalg"),
}
"""Pass name -> loader of its class, so that listing the names imports nothing."""

LINALG_STAGE: tuple[str, ...] = (
    "generalize-named-ops",
    "demote-f64",
    "inline-constants",
    "expand-powers",
    "drop-unused-results",
    "drop-unit-dims",
    "fold-fills",
    "share-subexpressions",
    "propagate-reshapes",
    "fold-transposes",
    "fuse-elementwise",
    "share-subexpressions",
    "fold-fills",
    "name-ops",
)
"""The passes in the order in which the pipeline runs them."""
