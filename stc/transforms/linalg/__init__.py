"""Passes on linalg over tensors: one form, one precision, loops that show the model's heads, few generics, readable names."""

from stc.transforms.registry import passes_of

LINALG_PASSES = passes_of(
    __name__,
    {
        "generalize-named-ops": "GeneralizeNamedOpsPass",
        "drop-asserts": "DropAssertsPass",
        "unfold-windows": "UnfoldWindowsPass",
        "simplify-movements": "SimplifyMovementsPass",
        "demote-f64": "DemoteF64Pass",
        "inline-constants": "InlineConstantsPass",
        "expand-functions": "ExpandFunctionsPass",
        "multiply-by-reciprocals": "MultiplyByReciprocalsPass",
        "drop-unused-results": "DropUnusedResultsPass",
        "drop-unit-dims": "DropUnitDimsPass",
        "fold-fills": "FoldFillsPass",
        "fold-transposes": "FoldTransposesPass",
        "recognize-quantization": "RecognizeQuantization",
        "quantize-linear": "QuantizeLinear",
        "propagate-reshapes": "PropagateReshapesPass",
        "fuse-elementwise": "FuseElementwisePass",
        "narrow-sums": "NarrowSumsPass",
        "share-subexpressions": "ShareSubexpressionsPass",
        "name-ops": "NameOpsPass",
        "choose-multipliers": "ChooseMultipliers",
        "pack-products": "PackProducts",
        "transpose-operands": "TransposeOperands",
        "split-reductions": "SplitReductions",
        "choose-parallelism": "ChooseParallelism",
        "distribute-parallel": "DistributeParallel",
        "apply-schedule": "ApplySchedule",
        "propagate-orders": "PropagateOrders",
        "default-tile-size": "DefaultTileSize",
        "tile-linalg": "TileLinalg",
    },
)
"""Pass name -> loader of its class, so that listing the names imports nothing."""

LINALG_STAGE: tuple[str, ...] = (
    "generalize-named-ops",
    "drop-asserts",
    "unfold-windows",
    "simplify-movements",
    "demote-f64",
    "inline-constants",
    "expand-functions",
    "multiply-by-reciprocals",
    "drop-unused-results",
    "drop-unit-dims",
    "fold-fills",
    "share-subexpressions",
    "recognize-quantization",
    "propagate-reshapes",
    "fold-transposes",
    "fuse-elementwise",
    "narrow-sums",
    "share-subexpressions",
    "fold-fills",
    "name-ops",
)
"""The passes in the order in which the pipeline runs them."""
