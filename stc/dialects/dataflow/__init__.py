"""The `dataflow` dialect: kernels, tasks, schedules and external memory (docs/design/method.md section 2)."""

from xdsl.ir import Dialect

from stc.dialects.dataflow.in_place import InPlaceAttr, Place
from stc.dialects.dataflow.kernel import KernelOp
from stc.dialects.dataflow.memory_ops import MemoryOp, PackOp, UnpackOp
from stc.dialects.dataflow.own_kernel import OwnKernelOp, OwnLoop, OwnLoopAttr, own_kernel_of
from stc.dialects.dataflow.provenance import PROVENANCE, ProvenanceAttr
from stc.dialects.dataflow.schedule import Schedule, ScheduleAttr
from stc.dialects.dataflow.task import TaskKind, TaskKindAttr, TaskOp, YieldOp

__all__ = [
    "PROVENANCE",
    "Dataflow",
    "InPlaceAttr",
    "KernelOp",
    "MemoryOp",
    "OwnKernelOp",
    "OwnLoop",
    "OwnLoopAttr",
    "PackOp",
    "Place",
    "ProvenanceAttr",
    "Schedule",
    "ScheduleAttr",
    "TaskKind",
    "TaskKindAttr",
    "TaskOp",
    "UnpackOp",
    "YieldOp",
    "own_kernel_of",
]

Dataflow = Dialect(
    "dataflow",
    [KernelOp, TaskOp, OwnKernelOp, YieldOp, PackOp, UnpackOp, MemoryOp],
    [ScheduleAttr, InPlaceAttr, TaskKindAttr, OwnLoopAttr, ProvenanceAttr],
)
