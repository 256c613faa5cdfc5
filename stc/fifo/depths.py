"""FIFO depths before sizing exists: enough by construction, not minimal.

A stream on an undirected cycle of tasks is safe with its token count. That is more than safety needs; the rule here is:

    A stream that leaves a task with *several* outputs, and lies on an undirected cycle, holds all its tokens.
    Every other stream holds w + r - 1, w and r being the most tokens one iteration of its writer and of its reader moves, and
    at least 2.

Firing rule: an iteration fires when all its reads and writes are possible. So a writer waits while fewer than w slots are free
and a reader while fewer than r tokens are there. With w + r - 1 slots not both: a writer that waits leaves at least r tokens.
(The larger of w and r is not enough: 3 slots, writes of 3, reads of 2. After one of each a single token is left, too few to
read, and two slots are free, too few to write.) A stream that holds all its tokens never makes its writer wait.

Why it cannot deadlock, for an acyclic task graph in which every token written is read: suppose that nobody can run.
(1) Follow a task that waits to write downstream: its consumer is not finished, is blocked and could read this stream, so it waits
to write itself (go on, the graph is acyclic) or waits to read another stream, which is short of tokens. (2) Let P be the producer
of a stream that is short of tokens. P is not finished, so it is blocked. If it has one output it does not wait to write, since
that stream is short of tokens; if it has several it does not wait for those that hold all their tokens. So it waits to read
another stream that is short of tokens (go on upstream: a task without inputs never waits to read, contradiction), or it has
several outputs and waits to write one that is a bridge of the undirected graph. (3) Then go on at (1) from that bridge. Of
the two halves that it joins, the walk stays in its consumer's from now on: it could return only across the bridge itself,
which is not short of tokens, and downstream it points away. Each further bridge cuts off a smaller half, so this ends too.

Rings of buffers are streams of blocks, of which a task takes one at a time; a ring holds one or two, never all. So a ring may
be the only output of its writer, or a bridge; anything else is refused.
"""

from __future__ import annotations

from stc.diagnostics import CompileError
from stc.network.graph import Channel, TaskGraph

DEEPER = 2
"""Loop depths are estimates: a design has to end if any of them are up to so many times as deep."""

SHALLOW = 2
"""So many slots are a shift register, which reads and writes in one cycle and answers sooner; no FIFO has fewer."""


def provisional_depths(graph: TaskGraph) -> dict[str, int]:
    """The depth of every stream, in tokens, by the rule above.

    CompileError where the tasks form a cycle, and where a ring is one of several outputs of a task and lies on an undirected cycle.
    """
    if cycle := graph.cycle():
        raise CompileError(f"tasks form a cycle: {', '.join(cycle)}", accepted="an acyclic graph of tasks")
    deep = {channel.name for channel in graph.channels if graph.outputs[channel.producer] > 1} - graph.bridges
    for ring in graph.channels:
        if ring.is_ring and ring.name in deep:
            raise CompileError(
                f"task {ring.producer} has other outputs beside a ring of buffers to {ring.consumer}, and their paths meet again",
                where=ring.producer,
                accepted="a ring of buffers as the only output of its task",
            )
    return {fifo.name: max(SHALLOW, fifo.tokens) if fifo.name in deep else least_depth(fifo) for fifo in graph.fifos}


def least_depth(fifo: Channel) -> int:
    """The depth from which on a FIFO reads and writes in one cycle, and its iterations have room."""
    return max(SHALLOW, room_of_iterations(fifo))


def room_of_iterations(fifo: Channel) -> int:
    """The depth at which writer and reader of a FIFO cannot hold up each other by the size of their iterations."""
    return min(fifo.tokens, fifo.written + fifo.read - 1)
