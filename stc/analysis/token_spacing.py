"""How far apart the tokens of a stream are written, at least."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from stc.analysis.loops import pipeline_ii, pipeline_style
from stc.analysis.task_graph import users_of
from stc.analysis.task_traces import Hardware, task_trace
from stc.diagnostics import UntimedError
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp
from stc.iteration.task_timeline import stretch, task_timeline

CLOSEST = 1
"""A stream moves one token per cycle."""


@dataclass
class TokenSpacing:
    """Cycles from one token of a stream to the next, at least, whatever the tasks wait for.

    A task alone has its loops between two of its writes: what it waits for only adds to that. Where it writes in a pipelined loop
    that reads a token in each iteration, tokens are also as far apart as those that it reads. Where sizes are known at run time,
    loops make the most iterations that they can.
    """

    hardware: Hardware
    _found: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int], init=False)

    def of_iterations(self, loop: scf.ForOp, task: TaskOp) -> int:
        """Of the tokens that each iteration of a pipelined loop waits for: those of the slowest stream."""
        outside: dict[SSAValue, SSAValue] = dict(zip(task.body.block.args, task.operands, strict=True))
        return max((self.of(outside[op.stream]) for op in read_always(loop)), default=CLOSEST)

    def of(self, channel: SSAValue) -> int:
        """Of the tokens of `channel`, a stream of a kernel; 1 where nothing is known, or there are no two tokens."""
        if channel not in self._found:
            self._found[channel] = CLOSEST  # for streams around a cycle of tasks
            self._found[channel] = min((self._written(channel, task) for task in users_of(channel)[0]), default=CLOSEST)
        return self._found[channel]

    def _written(self, channel: SSAValue, task: TaskOp) -> int:
        port = next(port for port, value in zip(task.body.block.args, task.operands, strict=True) if value is channel)
        loops = [pipelined_loop(op, task) for op in task.walk() if isinstance(op, stream.WriteOp) and op.stream is port]
        passed_on = min((CLOSEST if loop is None else self.of_iterations(loop, task) for loop in loops), default=CLOSEST)
        return max(passed_on, self._alone(channel, task))

    def _alone(self, channel: SSAValue, task: TaskOp) -> int:
        """If nobody waits."""
        try:
            timeline = task_timeline(task_trace(task, {channel: "tokens"}, self.hardware).largest)
        except UntimedError:
            return CLOSEST
        issues, port = stretch(timeline.program).issues, ("tokens", True)
        if len(issues.get(port, ())) < 2:
            return CLOSEST
        return max(CLOSEST, int(np.diff(issues[port] + timeline.late[port]).min()))


def pipelined_loop(op: Operation, task: TaskOp) -> scf.ForOp | None:
    """The pipelined loop of `task` around `op`."""
    around = op.parent_op()
    while around is not None and around is not task:
        if isinstance(around, scf.ForOp) and pipeline_ii(around) is not None:
            return around
        around = around.parent_op()
    return None


def read_always(loop: scf.ForOp) -> Iterator[stream.ReadOp]:
    """The reads that each iteration makes."""
    return (op for op in loop.body.block.ops if isinstance(op, stream.ReadOp))


def stops_with_results(loop: scf.ForOp) -> bool:
    """Whether a pipelined loop keeps results while an iteration waits to read: it stops as a whole, and writes streams."""
    reads, writes = next(read_always(loop), None), any(isinstance(op, stream.WriteOp) for op in loop.walk())
    return pipeline_style(loop) == "stp" and reads is not None and writes
