"""Passes on kernels and tasks over itensors."""

from stc.transforms.registry import passes_of

DATAFLOW_PASSES = passes_of(
    __name__,
    {
        "linalg-to-dataflow": "LinalgToDataflow",
        "layout-to-dataflow": "LayoutToDataflow",
        "fuse-kernels": "FuseKernels",
        "move-converters": "MoveConverters",
        "collapse-converters": "CollapseConverters",
        "share-converters": "ShareConverters",
        "fold-itensors": "FoldItensors",
        "insert-forks": "InsertForks",
        "simplify-routing": "SimplifyRouting",
        "vectorize-streams": "VectorizeStreams",
        "split-ports": "SplitPorts",
        "shrink-converters": "ShrinkConverters",
        "reread-in-order": "RereadInOrder",
        "pack-interfaces": "PackInterfaces",
        "cancel-packs": "CancelPacks",
        "verify-streams": "VerifyStreams",
    },
)
