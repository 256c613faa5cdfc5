"""Traces of small tasks, against an interpreter that runs their loops one iteration after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from stc.analysis.task_traces import task_trace
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp
from stc.dialects.parsing import parse_module
from stc.iteration.firings import firings
from stc.iteration.trace import InTurn, Repeated, steps

F = "!stream.stream<vector<4xf32>, depth: 2>"
R = "!stream.block<memref<4x4xf32>, count: 2>"
READ = {port: f"%r_{{}} = stream.read %{port} : {F}\n" for port in "ab"}
WRITE = {port: f"stream.write %v into %{port} : {F}\n" for port in "st"}
UNROLL = " {stc.unroll = 0 : i32}"
CONSTANTS = "".join(f"%c{n} = arith.constant {n} : index\n" for n in (*range(13), 1000))

# A task, as text ------------------------------------------------------------------------------------------------------


class Body:
    """Lines of a task over streams %a, %b (in), %s, %t (out) and rings %p (in), %q (out)."""

    def __init__(self) -> None:
        self.text = ""
        self.names = 0

    def fresh(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def access(self, ports: str) -> Body:
        for port in ports:
            self.text += READ[port].format(self.fresh()) if port in READ else WRITE[port]
        return self

    def loop(self, iv: str, count: int, inner: Body, *, step: int = 1, lower: int = 0, unrolled: bool = False) -> Body:
        head = f"scf.for %{iv} = %c{lower} to %c{count} step %c{step} {{\n"
        self.text += head + inner.renamed(self.fresh()) + "}" + (UNROLL if unrolled else "") + "\n"
        return self

    def where(self, iv: str, predicate: str, bound: int, inner: Body, other: Body | None = None) -> Body:
        name = self.fresh()
        self.text += f"%g_{name} = arith.cmpi {predicate}, %{iv}, %c{bound} : index\nscf.if %g_{name} {{\n{inner.renamed(name)}}}"
        self.text += f" else {{\n{other.renamed(self.fresh())}}}\n" if other is not None else "\n"
        return self

    def acquire(self, ring: str) -> Body:
        self.text += f"%m_{self.fresh()} = stream.acquire %{ring} : {R} -> memref<4x4xf32>\n"
        return self

    def line(self, text: str) -> Body:
        self.text += text + "\n"
        return self

    def renamed(self, suffix: str) -> str:
        """The text with the values it names itself made unique."""
        for prefix in ("r_n", "g_n", "m_n"):
            self.text = self.text.replace(f"%{prefix}", f"%{prefix[0]}_{suffix}n")
        return self.text


def task_of(body: Body) -> TaskOp:
    module = parse_module(f"""
func.func @main(%x: tensor<1xvector<4xf32>>) {{
  dataflow.kernel @k(%x_1 = %x : tensor<1xvector<4xf32>> as memref<1xvector<4xf32>>) {{
    %a0 = stream.create @a : {F}
    %b0 = stream.create @b : {F}
    %s0 = stream.create @s : {F}
    %t0 = stream.create @t : {F}
    %p0 = stream.buffer @p : {R}
    %q0 = stream.buffer @q : {R}
    dataflow.task @task ins(%x_2 = %x_1 : memref<1xvector<4xf32>>, %a = %a0 : {F}, %b = %b0 : {F}, %p = %p0 : {R})
                        outs(%s = %s0 : {F}, %t = %t0 : {F}, %q = %q0 : {R}) {{
      {CONSTANTS}
      %v = memref.load %x_2[%c0] : memref<1xvector<4xf32>>
      {body.text}
      dataflow.yield
    }}
    dataflow.yield
  }}
  func.return
}}""")
    return next(op for op in module.walk() if isinstance(op, TaskOp))


def names_of(task: TaskOp) -> dict[SSAValue, str]:
    made = [value.owner for value in task.operands]
    return {op.result: op.sym_name.data for op in made if isinstance(op, stream.CreateOp | stream.BufferOp)}


# The interpreter ------------------------------------------------------------------------------------------------------

Event = tuple[str, frozenset[tuple[str, int]]]
"""What happens at once: "fires" with the change of tokens per channel, or "needs" a token (-1) or room (1) in a ring."""


@dataclass
class Interpreter:
    """Runs a task concretely. Accesses gather until something that takes time of its own stands between them: a rolled loop
    with or without accesses, a block to be acquired, the end of an iteration."""

    task: TaskOp
    values: dict[SSAValue, int] = field(default_factory=dict)
    gathered: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        names = names_of(self.task)
        ports = zip(self.task.body.block.args, self.task.operands, strict=True)
        self.names: dict[SSAValue, str] = {port: names[value] for port, value in ports if value in names}
        self.filled: set[SSAValue] = set(self.task.body.block.args[len(self.task.ins) :])

    def run(self) -> list[Event]:
        return [*self.block(self.task.body.block), *self.flush()]

    def flush(self) -> Iterator[Event]:
        if self.gathered:
            yield "fires", frozenset(self.gathered.items())
            self.gathered = Counter()

    def block(self, block: Block) -> Iterator[Event]:
        held: list[tuple[str, int]] = []
        for op in block.ops:
            if isinstance(op, stream.AcquireOp):
                yield from self.flush()
                name = self.names[op.block]
                held.append((name, 1 if op.block in self.filled else -1))
                yield "needs", frozenset(held[-1:])
                continue
            yield from self.op(op)
        if held:
            yield from self.flush()
        for change in reversed(held):  # as the destructors of C++ do
            yield "fires", frozenset([change])

    def op(self, op: Operation) -> Iterator[Event]:
        match op:
            case stream.ReadOp():
                self.gathered[self.names[op.stream]] -= 1
            case stream.WriteOp():
                self.gathered[self.names[op.stream]] += 1
            case scf.ForOp():
                yield from self.loop(op)
            case scf.IfOp() if op.cond in self.values:
                region = op.true_region if self.values[op.cond] else op.false_region
                yield from self.block(region.block) if region.blocks else ()
            case arith.ConstantOp() if isinstance(op.value, IntegerAttr):
                self.values[op.result] = op.value.value.data
            case arith.AddiOp() if op.lhs in self.values:
                self.values[op.result] = self.values[op.lhs] + self.values[op.rhs]
            case arith.AndIOp():
                self.values[op.result] = int(self.values[op.lhs] and self.values[op.rhs])
            case arith.CmpiOp() if op.lhs in self.values:
                self.values[op.result] = self.compare(op.predicate.value.data, op.lhs, op.rhs)
            case _:
                pass

    def compare(self, predicate: int, left: SSAValue, right: SSAValue) -> int:
        spelled = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")[predicate]
        a, b = self.values[left], self.values[right]
        return int({"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[spelled])

    def loop(self, loop: scf.ForOp) -> Iterator[Event]:
        rolled = "stc.unroll" not in loop.attributes
        if rolled:
            yield from self.flush()
        for value in range(self.values[loop.lb], self.values[loop.ub], self.values[loop.step]):
            self.values[loop.body.block.args[0]] = value
            yield from self.block(loop.body.block)
            if rolled:
                yield from self.flush()


def expanded(task: TaskOp) -> list[Event]:
    """The firings of the trace in the terms of the interpreter."""
    found = firings(task_trace(task, names_of(task)))
    rings = {op.result: op.sym_name.data for value in task.operands if isinstance(op := value.owner, stream.BufferOp)}.values()
    needs: list[Counter[str]] = [Counter() for _ in range(found.count)]
    fires: list[Counter[str]] = [Counter() for _ in range(found.count)]
    for (name, moment), at in found.moments.items():
        for firing in at.tolist():
            if moment in ("write_acquire", "read_acquire") and name in rings:
                needs[firing][name] += 1 if moment == "write_acquire" else -1
            elif moment in ("write_release", "read_release"):
                fires[firing][name] += 1 if moment == "write_release" else -1
    events: list[Event] = []
    for need, fire in zip(needs, fires, strict=True):
        assert not (need and fire)
        events += [("needs", frozenset(need.items()))] if need else []
        events += [("fires", frozenset(fire.items()))] if fire else []
    return events


# Tasks ----------------------------------------------------------------------------------------------------------------


def body() -> Body:
    return Body()


BODIES = {
    "nothing": body(),
    "straight": body().access("aab").access("s"),
    "a_loop": body().loop("i", 7, body().access("as")),
    "steps": body().loop("i", 11, body().access("as"), step=3, lower=1),
    "no_iterations": body().access("a").loop("i", 3, body().access("b"), lower=3).access("s"),
    "nested": body().loop("i", 3, body().access("a").loop("j", 4, body().access("bs")).access("t")),
    "nested_perfectly": body().loop("i", 3, body().loop("j", 4, body().access("as"))),
    "two_in_one": body().loop("i", 3, body().loop("j", 2, body().access("a")).loop("k", 5, body().access("s"))),
    "reused_iv_names": body().loop("i", 3, body().access("a")).loop("i", 4, body().access("s")),
    "compute_between": body().loop("i", 3, body().access("a").loop("j", 4, body()).access("s")),
    "guarded_read": body().loop("i", 6, body().where("i", "eq", 2, body().access("a")).access("s")),
    "guard_of_the_outer": body().loop("i", 3, body().loop("j", 4, body().where("i", "ult", 2, body().access("a")).access("s"))),
    "guard_of_the_inner": body().loop("i", 3, body().loop("j", 4, body().where("j", "uge", 3, body().access("s")).access("a"))),
    "reduction": body().loop("i", 3, body().loop("k", 4, body().access("ab").where("k", "eq", 3, body().access("s")))),
    "reduction_outside": body().loop("k", 4, body().loop("j", 3, body().access("ab").where("k", "eq", 3, body().access("s")))),
    "guards_in_guards": body().loop(
        "i", 4, body().loop("j", 4, body().access("a").where("i", "sgt", 1, body().where("j", "ne", 1, body().access("s"))))
    ),
    "either": body().loop("i", 5, body().where("i", "sle", 1, body().access("as"), body().access("bt"))),
    "guarded_loop": body().loop("i", 4, body().where("i", "ugt", 1, body().loop("j", 3, body().access("as"))).access("t")),
    "either_loop": body().loop(
        "i", 4, body().where("i", "slt", 2, body().loop("j", 3, body().access("a")), body().loop("j", 2, body().access("bs")))
    ),
    "unrolled": body().loop("i", 3, body().access("a").loop("u", 4, body().access("s"), unrolled=True)),
    "unrolled_twice": body().loop(
        "i", 3, body().loop("u", 2, body().loop("w", 3, body().access("s"), unrolled=True).access("a"), unrolled=True)
    ),
    "unrolled_with_guard": body().loop(
        "i", 3, body().loop("u", 4, body().where("u", "ult", 3, body().access("as")), unrolled=True)
    ),
    "unrolled_at_the_top": body().loop("u", 4, body().access("as"), unrolled=True).access("t"),
    "unrolled_and_outer_guard": body().loop(
        "i", 3, body().loop("u", 2, body().where("i", "sge", 1, body().access("s")).access("a"), unrolled=True)
    ),
    "rolled_in_unrolled": body().loop("u", 2, body().access("a").loop("i", 3, body().access("s")), unrolled=True),
    "rolled_in_unrolled_with_guard": body().loop(
        "u", 3, body().loop("i", 3, body().where("u", "eq", 1, body().access("b")).access("s")), unrolled=True
    ),
    "conjunction": body().loop(
        "i",
        3,
        body().loop(
            "j",
            4,
            body()
            .line("%x1 = arith.cmpi uge, %i, %c1 : index\n%y1 = arith.cmpi ult, %j, %c2 : index")
            .line("%z1 = arith.andi %x1, %y1 : i1\nscf.if %z1 {")
            .access("s")
            .line("}")
            .access("a"),
        ),
    ),
    "sum_of_loops": body().loop(
        "i",
        9,
        body().loop("j", 3, body().line("%w1 = arith.addi %i, %j : index").where("w1", "ult", 5, body().access("s"))),
        step=3,
    ),
    "ring_filled": body().loop("i", 3, body().acquire("q").loop("j", 4, body().access("a"))),
    "ring_drained": body().loop("i", 3, body().acquire("p").loop("j", 4, body().access("s"))),
    "ring_to_ring": body().loop("i", 2, body().acquire("p").acquire("q").access("a")),
    "ring_around_everything": body().acquire("p").loop("i", 2, body().loop("j", 2, body().access("s"))),
    "ring_after_access": body().loop("i", 2, body().access("a").acquire("q").access("b")),
    "ring_where": body().loop("i", 3, body().where("i", "eq", 1, body().acquire("q").access("a")).access("s")),
    "ring_unrolled": body().loop("u", 2, body().acquire("p").access("s"), unrolled=True),
}


@pytest.mark.parametrize("name", BODIES)
def test_firings_are_what_the_loops_do(name: str) -> None:
    task = task_of(BODIES[name])
    expected = Interpreter(task).run()
    assert expected or name == "nothing"
    assert expanded(task) == expected


@pytest.mark.parametrize("name", BODIES)
def test_counts_are_those_of_the_firings(name: str) -> None:
    task = task_of(BODIES[name])
    events = [change for kind, changes in Interpreter(task).run() if kind == "fires" for change in changes]
    trace = task_trace(task, names_of(task))
    for channel in "abpstq":
        writes = channel in "stq"
        assert trace.tokens(channel, writes) == sum(abs(count) for name, count in events if name == channel)


def test_interpreter_by_hand() -> None:
    """The oracle, on a reduction whose result leaves in the last of two steps."""
    inner = body().access("a").where("k", "eq", 1, body().access("s"))
    step, last = ("fires", frozenset([("a", -1)])), ("fires", frozenset([("a", -1), ("s", 1)]))
    assert Interpreter(task_of(body().loop("i", 2, body().loop("k", 2, inner)))).run() == [step, last, step, last]


@pytest.mark.parametrize("name", BODIES)
def test_a_part_of_a_trace_is_the_trace_of_that_part(name: str) -> None:
    task = task_of(BODIES[name])
    names = names_of(task)
    for left_out in names.values():
        kept = {value: channel for value, channel in names.items() if channel != left_out}
        part, alone = firings(task_trace(task, names).only(set(kept.values()))), firings(task_trace(task, kept))
        assert part.count == alone.count and part.moments.keys() == alone.moments.keys()
        assert all(part.moments[side].tolist() == at.tolist() for side, at in alone.moments.items())


def test_the_size_is_that_of_the_guards() -> None:
    """A thousand million iterations are three parts, of which the guard cuts the second loop."""
    inner = body().loop("k", 1000, body().access("as"))
    task = task_of(body().loop("i", 1000, body().loop("j", 1000, body().where("j", "eq", 7, inner, body().access("bt")))))
    trace = task_trace(task, names_of(task))
    assert trace.tokens("a", False) == 10**6 and trace.tokens("t", True) == 999_000
    found = steps(trace)
    assert isinstance(found, Repeated) and isinstance(found.body, InTurn)
    assert [part.count if isinstance(part, Repeated) else 1 for part in found.body.parts] == [7, 1, 992]


DATA = "%l{0} = vector.extract %v[0] : f32 from vector<4xf32>\n%d{0} = arith.cmpf ogt, %l{0}, %l{0} : f32\nscf.if %d{0} {{"


def test_accesses_that_depend_on_data_are_refused() -> None:
    task = task_of(body().loop("i", 3, body().line(DATA.format(1)).access("s").line("}")))
    with pytest.raises(CompileError, match="task: control depends on data; accepted: guards on loop indices"):
        task_trace(task, names_of(task))


@pytest.mark.parametrize("unrolled", [False, True])
def test_other_work_may_depend_on_data(unrolled: bool) -> None:
    task = task_of(body().loop("i", 3, body().line(DATA.format(1)).line("}").access("as"), unrolled=unrolled))
    assert expanded(task) == Interpreter(task).run()
