"""Passes on kernels and tasks over itensors."""

from stc.transforms.registry import passes_of

DATAFLOW_PASSES = passes_of(
    __name__,
    {
        "linalg-to-dataflow": "LinalgToDataflow",
        "layout-to-dataflow": "LayoutToDataflow",
        "fuse-kernels": "FuseKernels",
        "insert-forks": "InsertForks",
        "vectorize-streams": "VectorizeStreams",
        "pack-interfaces": "PackInterfaces",
    },
)
