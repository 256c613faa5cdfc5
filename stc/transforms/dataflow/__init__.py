"""Passes on kernels and tasks over itensors."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.passes import ModulePass


def _fuse_kernels() -> type[ModulePass]:
    from stc.transforms.dataflow.fuse_kernels import FuseKernels

    return FuseKernels


def _insert_forks() -> type[ModulePass]:
    from stc.transforms.dataflow.insert_forks import InsertForks

    return InsertForks


def _layout_to_dataflow() -> type[ModulePass]:
    from stc.transforms.dataflow.layout_to_dataflow import LayoutToDataflow

    return LayoutToDataflow


def _linalg_to_dataflow() -> type[ModulePass]:
    from stc.transforms.dataflow.linalg_to_dataflow import LinalgToDataflow

    return LinalgToDataflow


def _pack_interfaces() -> type[ModulePass]:
    from stc.transforms.dataflow.pack_interfaces import PackInterfaces

    return PackInterfaces


def _vectorize_streams() -> type[ModulePass]:
    from stc.transforms.dataflow.vectorize_streams import VectorizeStreams

    return VectorizeStreams


DATAFLOW_PASSES: dict[str, Callable[[], type[ModulePass]]] = {
    "linalg-to-dataflow": _linalg_to_dataflow,
    "layout-to-dataflow": _layout_to_dataflow,
    "fuse-kernels": _fuse_kernels,
    "insert-forks": _insert_forks,
    "vectorize-streams": _vectorize_streams,
    "pack-interfaces": _pack_interfaces,
}
