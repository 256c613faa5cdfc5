"""The `dataflow` dialect: kernels, tasks, schedules and external memory (method.md section 2)."""

from xdsl.ir import Dialect

from stc.dialects.dataflow.in_place import InPlaceAttr, Place
from stc.dialects.dataflow.kernel import KernelOp
from stc.dialects.dataflow.memory_ops import MemoryOp, PackOp, UnpackOp
from stc.dialects.dataflow.schedule import Schedule, ScheduleAttr
from stc.dialects.dataflow.task import TaskOp, YieldOp

__all__ = [
    "Dataflow",
    "InPlaceAttr",
    "KernelOp",
    "MemoryOp",
    "PackOp",
    "Place",
    "Schedule",
    "ScheduleAttr",
    "TaskOp",
    "UnpackOp",
    "YieldOp",
]

Dataflow = Dialect(
    "dataflow",
    [KernelOp, TaskOp, YieldOp, PackOp, UnpackOp, MemoryOp],
    [ScheduleAttr, InPlaceAttr],
)
