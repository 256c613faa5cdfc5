"""Passes on kernels and tasks over itensors."""

from stc.transforms.registry import passes_of

DATAFLOW_PASSES = passes_of(
    __name__,
    {
        "linalg-to-dataflow": "LinalgToDataflow",
        "layout-to-dataflow": "LayoutToDataflow",
        "choose-groups": "ChooseGroups",
        "merge-kernels": "MergeKernels",
        "trim-boundaries": "TrimBoundaries",
        "insert-converters": "InsertConverters",
        "flatten-tasks": "FlattenTasks",
        "move-converters": "MoveConverters",
        "collapse-converters": "CollapseConverters",
        "share-converters": "ShareConverters",
        "fold-itensors": "FoldItensors",
        "insert-forks": "InsertForks",
        "simplify-routing": "SimplifyRouting",
        "vectorize-streams": "VectorizeStreams",
        "split-ports": "SplitPorts",
        "choose-converters": "ChooseConverters",
        "duplicate-loads-in-order": "DuplicateLoadsInOrder",
        "size-streams": "SizeStreams",
        "update-in-place": "UpdateInPlace",
        "interleave-slices": "InterleaveSlices",
        "pack-interfaces": "PackInterfaces",
        "cancel-packs": "CancelPacks",
        "verify-streams": "VerifyStreams",
    },
)
