"""`repeat-steps`: one launch computes several tokens, each behind the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf, vector
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    VectorType,
    i8,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from stc.analysis.loops import is_unrolled
from stc.analysis.steps import updates_and_reads
from stc.analysis.task_graph import task_graph, tasks_of, units_of
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, PackOp, TaskKind, TaskOp, UnpackOp, YieldOp
from stc.dialects.facts import DRAINS, LABEL, NAME, PARAMETER, PIPELINE, STEPS
from stc.dialects.itensor import AdvanceOp, ItensorType, SizeOp, SymbolType
from stc.dialects.stream import CreateOp, ReadOp, StreamType, WriteOp
from stc.dialects.use_def import arguments_behind, through_reshapes, uses_through
from stc.fifo.depths import SHALLOW
from stc.iteration.layout_orders import row_major
from stc.iteration.order import Loop
from stc.network.units import complaint_about
from stc.platforms.platform import load_platform
from stc.transforms.index_constant import index_constant
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import shape_of
from stc.transforms.linalg.reshapes import expand_shape
from stc.transforms.stream.hls_directives import direct
from stc.transforms.stream.kernel_operands import with_operand, without_operands
from stc.transforms.stream.loops import before_terminator, loop_at, loop_nest, total
from stc.transforms.stream.lower_dmas import load_operand
from stc.transforms.stream.names import symbols_of
from stc.transforms.stream.repeated_bodies import offset, once, one_iteration, repeated_block, repeated_ops, repeats, stack_ports
from stc.transforms.stream.stacked_arguments import StackedArguments, stacked_memory, stacked_order

TOKENS, EMBEDDING, POSITIONS = "tokens", "embedding", "positions"
"""What a launch of several steps takes in place of the first layer's input: a number for each step, negative where it is that of
the token that the step before found; the model's tables."""


CREDIT = 2
"""Words by which a task that writes a cache says that it has: a loop of one iteration is none to the tool, and what is in it might
not wait for the response to the words before (emission rule 5)."""


@dataclass(frozen=True)
class RepeatSteps(ModulePass):
    """Let a kernel that computes a token from the one before compute `count` of them in a launch, one after the other.

    Units that nobody starts compute one step whenever there are tokens for it, and stay as they are. Each task of a unit that the
    host starts does what it did in a loop over the steps. A scalar of the launch, where rows of a cache end, is one more in each
    (`itensor.advance`): a launch begins so much before its maximum. What the host gives or takes for a position has a leading
    dimension, an entry for each step. In place of the row of the embedding for the first layer there is an input of integers,
    `tokens`, and the table itself, a parameter; a task, `embed`, sends the row of the number that the step is given, or where that
    is negative of the token that the step before found, which it takes from where that is made and passes on; where the model adds
    a row for the position it does that, too. What a step writes into a cache the next one reads: each task that reads one waits, at
    the end of each step, for words of each task that writes it (through a unit that nobody starts: units are acyclic inside).

    The memory of a FIFO, its depth, and what is proved are those of one step: the network computes the same in whatever order its
    tasks run, and the words of one step leave every FIFO before the next one needs it.

    Options:
    * `count`: of steps; 1 (default) changes nothing.
    * `input` (default x), `token` (default token): what the embedding's row is called, and the result that is the next token.
    * `vocabulary`: rows of the table, 0 (default) for as many as the result `logits` has entries; `positions`: of the table that is
      added, 0 (default) where there is none.
    * `platform` (default u55c): whose cycle new loops are scheduled for.

    Accepted: one kernel of several units, of which the host does not start all; one task that reads the input, one that stores the
    token.

        func.func @main(%x: tensor<1x1x8xf32>, %pos: i32, ...) -> (tensor<1x1xi64> {stc.name = "token"}, ...)
        dataflow.task @load_x ins(%x = ...) outs(%out = %row) kind load unit @memory { scf.for %word = ... {...} }
      becomes, with count=4 vocabulary=50,
        func.func @main(%tokens: tensor<4xi64>, %embedding: tensor<50x8xf32> {stc.parameter}, %pos: i32, ...)
            -> (tensor<4x1x1xi64> {stc.name = "token"}, ...)
        dataflow.task @embed ins(%given = ..., %found = ..., %embedding = ...) outs(%out = %row, %token = ...) unit @memory {
          scf.for %step = %c0 to %c4 step %c1 {...} {stc.steps} }
    """

    name = "repeat-steps"

    count: int = 1
    input: str = "x"
    token: str = "token"
    vocabulary: int = 0
    positions: int = 0
    platform: str = "u55c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.count < 1:
            raise CompileError(f"count is {self.count}", where=self.name, accepted="a number of steps from 1")
        if self.count == 1:
            return
        kernels = [found for found in op.walk() if isinstance(found, KernelOp)]
        if len(kernels) != 1:
            raise CompileError(f"{len(kernels)} kernels", where=self.name, accepted="one kernel")
        _Repetition(op, kernels[0], self).run()
        erase_dead_ops(op)


class _Repetition:
    def __init__(self, module: ModuleOp, kernel: KernelOp, asked: RepeatSteps):
        function = kernel.parent_op()
        assert isinstance(function, func.FuncOp)
        self._module, self._kernel, self._function, self._asked, self._count = module, kernel, function, asked, asked.count
        self._where = f"{RepeatSteps.name} @{kernel.sym_name.data}"
        self._arguments = StackedArguments(function, kernel, asked.count, self._where)
        self._new: list[TaskOp] = []
        self._vocabulary = asked.vocabulary or self._entries_of("logits")

    def run(self) -> None:
        self._require_room()
        started = self._started()
        load, store = self._load_of_input(), self._store_of_token()
        self._stack()
        repeated = [task for task in tasks_of(self._kernel) if task.unit in started and task is not load]
        credits = [(writer.sym_name.data, reader.sym_name.data) for writer, reader in updates_and_reads(self._kernel)]
        self._embed(load, store)
        for task in repeated:
            self._repeat(task)
        for writer, reader in credits:
            self._credit(writer, reader)
        self._kernel.steps = self._count
        direct(self._new, load_platform(self._asked.platform).cycle_ns)
        self._arguments.update_signature()
        self._arguments.erase_replaced()
        if complaint := complaint_about(task_graph(self._kernel), units_of(self._kernel)):
            raise CompileError(complaint, where=self._where, accepted="units that are acyclic inside")

    def _require_room(self) -> None:
        """The steps have positions, and the inputs that are new names."""
        for symbol in self._kernel.symbols:
            if self._count > symbol.maximum + 1:
                what = f"{self._count} steps, and {symbol.name} is at most {symbol.maximum}"
                raise CompileError(what, where=self._where, accepted=f"1 to {symbol.maximum + 1} steps")
            if 0 < self._asked.positions <= symbol.maximum:
                what = f"positions is {self._asked.positions}, and {symbol.name} is at most {symbol.maximum}"
                raise CompileError(what, where=self._where, accepted=f"{symbol.maximum + 1} rows at least, or 0 for no table")
        for name in (TOKENS, EMBEDDING, POSITIONS):
            if name in _names(self._function.arg_attrs):
                raise CompileError(f"there is an input '{name}'", where=self._where, accepted="inputs of other names")

    # What there is ------------------------------------------------------------------------------------------------------

    def _started(self) -> set[str]:
        """The units that the host starts."""
        units, started = {task.unit for task in tasks_of(self._kernel)}, self._kernel.started
        if None in units or not started or units == started:
            said = "all" if None in units or units == started else len(started)
            what = f"{len(units)} compute unit{'s' if len(units) > 1 else ''}, of which the host starts {said}"
            raise CompileError(what, where=self._where, accepted="units of which some have no memory ports (--units memory)")
        return started

    def _argument(self) -> BlockArgument:
        names = _names(self._function.arg_attrs)
        if self._asked.input not in names:
            raise CompileError(f"no input '{self._asked.input}'", where=self._where, accepted="the name of the embedding's row")
        return self._function.body.block.args[names.index(self._asked.input)]

    def _entries_of(self, result: str) -> int:
        """The last extent of a result of the function."""
        names, types = _names(self._function.res_attrs), self._function.function_type.outputs.data
        kind = types[names.index(result)] if result in names else None
        if not isa(kind, TensorType) or not kind.get_shape():
            accepted = "one, or vocabulary=N, the rows of the embedding"
            raise CompileError(f"no result '{result}'", where=self._where, accepted=accepted)
        return kind.get_shape()[-1]

    def _load_of_input(self) -> TaskOp:
        argument = self._argument()
        packs = [use.operation for use in uses_through(argument)]
        ports = [self._kernel.arguments[index] for index, value in enumerate(self._kernel.inputs)
                 if any(isinstance(pack, PackOp) and value in pack.stripes for pack in packs)]
        tasks = [use.operation for port in ports for use in port.uses if isinstance(use.operation, TaskOp)]
        if len(tasks) != 1 or len(tasks[0].outs) != 1:
            what = f"{len(tasks)} tasks read '{self._asked.input}'"
            raise CompileError(what, where=self._where, accepted="one, with one stream, as repeat-layers makes it")
        memories = [port for port in tasks[0].input_ports if isinstance(port.type, MemRefType)]
        if len(memories) != 1 or not all(isinstance(use.operation, memref.LoadOp) for use in memories[0].uses):
            what = f"task @{tasks[0].sym_name.data} reads more than '{self._asked.input}', or in another way than word by word"
            raise CompileError(what, where=self._where, accepted="one memory, read by memref.load")
        return tasks[0]

    def _store_of_token(self) -> TaskOp:
        terminator, names = self._function.body.block.last_op, _names(self._function.res_attrs)
        assert terminator is not None
        if self._asked.token not in names:
            raise CompileError(f"no result '{self._asked.token}'", where=self._where, accepted="the name of the next token")
        unpack = through_reshapes(terminator.operands[names.index(self._asked.token)]).owner
        if not isinstance(unpack, UnpackOp) or len(unpack.stripes) != 1 or unpack.stripes[0] not in self._kernel.outputs:
            what = f"'{self._asked.token}' is no result of the kernel"
            raise CompileError(what, where=self._where, accepted="one of its results")
        memory = self._kernel.terminator.arguments[self._kernel.outputs.index(unpack.stripes[0])]
        stores = [use.operation for use in memory.uses if isinstance(use.operation, TaskOp)]
        tokens = [value.type.element_type for store in stores for value in store.ins if isinstance(value.type, StreamType)]
        if len(stores) != 1 or tokens != [VectorType(i64, [1])]:
            what = f"'{self._asked.token}' is not stored as one i64"
            raise CompileError(what, where=self._where, accepted="what an arg-max finds")
        return stores[0]

    # Arguments and results ----------------------------------------------------------------------------------------------

    def _stack(self) -> None:
        """What the host gives and takes for a position: all but scalars, parameters, and what is updated in place."""
        updated = {argument for index in self._kernel.updated for argument in arguments_behind(self._kernel.inputs[index])}
        entries, row = self._function.arg_attrs, self._argument()
        given = [
            argument for argument in self._function.body.block.args
            if isinstance(argument.type, TensorType) and argument.type.get_shape() and argument not in updated
            and argument is not row and not (entries is not None and PARAMETER.on(entries.data[argument.index]))
        ]
        self._arguments.stack(given)
        self._function.arg_attrs = _marked(self._function.arg_attrs, [argument.index for argument in given])
        terminator = self._function.body.block.last_op
        assert terminator is not None
        results = list[SSAValue]()
        for index, (result, place) in enumerate(zip(self._kernel.outputs, self._kernel.places, strict=True)):
            if place is None:
                value = self._kernel.terminator.arguments[index]
                Rewriter.replace_value_with_new_type(value, stacked_memory(value.type, self._count))
                assert isa(result.type, TensorType)
                words = TensorType(result.type.element_type, [self._count * result.type.get_shape()[0]])
                results.append(Rewriter.replace_value_with_new_type(result, words))
        self._arguments.stack_results(results)
        own = [index for index, value in enumerate(terminator.operands) if self._arguments.is_stacked(value)]
        self._function.res_attrs = _marked(self._function.res_attrs, own)

    def _with_argument(self, name: str, kind: TensorType, *, is_parameter: bool, at: int) -> BlockArgument:
        block, entries = self._function.body.block, self._function.arg_attrs
        argument = block.insert_arg(kind, at)
        argument.name_hint = name
        entry = NAME.entry(name) | (PARAMETER.entry(None) if is_parameter else {})
        others = [] if entries is None else list(entries.data)
        self._function.arg_attrs = ArrayAttr([*others[:at], DictionaryAttr(entry), *others[at:]])
        return argument

    def _without_argument(self, argument: BlockArgument) -> None:
        entries = self._function.arg_attrs
        assert entries is not None
        self._function.arg_attrs = ArrayAttr([*entries.data[: argument.index], *entries.data[argument.index + 1 :]])
        argument.block.erase_arg(argument)

    # The embedding ------------------------------------------------------------------------------------------------------

    def _embed(self, load: TaskOp, store: TaskOp) -> None:
        """A task in place of `load`, which looks up the row that a step begins with, and takes the token that it ends with."""
        kernel, x, unit = self._kernel, self._argument(), load.unit
        names, at = symbols_of(kernel), x.index
        (memory,) = [value for value in load.ins if isinstance(value.type, MemRefType)]
        (port,) = [port for port in load.input_ports if isinstance(port.type, MemRefType)]
        (found,) = [value for value in store.ins if isinstance(value.type, StreamType)]
        assert isa(port.type, MemRefType) and isa(port.type.element_type, VectorType) and isa(x.type, TensorType)
        words, lanes = port.type.get_shape()[0], port.type.element_type.get_shape()[0]
        given = self._load_tokens(at, load)
        pack = kernel.inputs[kernel.arguments.index(memory)].owner
        assert isinstance(pack, PackOp)
        tables = [self._table(EMBEDDING, self._vocabulary, pack, at + 1)]
        if self._asked.positions:
            tables.append(self._table(POSITIONS, self._asked.positions, pack, at + 2))
        scalars = list(kernel.symbols.values())[:1] if self._asked.positions else []
        if self._asked.positions and len(kernel.symbols) != 1:
            what = f"{len(kernel.symbols)} scalars, of which one says the position"
            raise CompileError(what, where=self._where, accepted="one")
        (out,) = load.outs
        assert isinstance(found.owner, CreateOp) and isinstance(found.type, StreamType) and unit is not None
        found.owner.detach()
        Rewriter.insert_op(found.owner, InsertPoint.before(load))  # it comes back
        passed_on = CreateOp(names.fresh(f"{self._asked.token}_found"), found.type, 1, 1)
        token = Builder(InsertPoint.before(load)).insert(passed_on).result
        embed = TaskOp(names.fresh("embed"), [*scalars, given, found, *tables], [out, token], kind=TaskKind.LOAD, unit=unit)
        Builder(InsertPoint.before(load)).insert(embed)
        store.operands = [token if value is found else value for value in store.operands]
        body = _EmbedBody(embed, words, lanes, self._vocabulary, bool(self._asked.positions), self._count)
        body.fill(load, port)
        Rewriter.erase_op(load)
        without_operands(kernel, [argument for argument in kernel.arguments if argument is memory])
        erase_dead_ops(self._module)
        self._without_argument(x)
        self._new.append(embed)

    def _load_tokens(self, at: int, load: TaskOp) -> SSAValue:
        """The stream of the numbers that a launch is given."""
        argument = self._with_argument(TOKENS, TensorType(i64, [self._count]), is_parameter=False, at=at)
        layout = ItensorType.from_order(row_major((self._count,), (1,)), i64)
        words = TensorType(VectorType(i64, [1]), [self._count])
        pack = Builder(InsertPoint.before(self._kernel)).insert(PackOp(argument, layout, words))
        pack.result.name_hint = TOKENS
        stream = load_operand(self._kernel, pack.result, layout)
        task = next(use.operation for use in stream.uses)
        assert isinstance(task, TaskOp)
        assert load.unit is not None
        task.unit = load.unit
        for loop in [op for op in task.walk() if isinstance(op, scf.ForOp)]:
            STEPS.put(loop, None)
        assert isinstance(stream.owner, CreateOp)
        for name in ("tokens", "distinct_tokens"):
            stream.owner.properties[name] = IntegerAttr(1, i64)
        stream.owner.properties.pop("carries", None)  # which would be all steps
        self._new.append(task)
        return stream

    def _table(self, name: str, rows: int, row: PackOp, at: int) -> SSAValue:
        """The memory of a new parameter with `rows` rows, each of which lies as the input does, which is packed by `row`."""
        shape, word = shape_of(row.source), row.result.type
        assert isa(row.source.type, TensorType) and isa(word, TensorType)
        kind = TensorType(row.source.type.element_type, [rows, prod(shape)])
        argument = self._with_argument(name, kind, is_parameter=True, at=at)
        builder = Builder(InsertPoint.before(self._kernel))
        reshaped = expand_shape(argument, ((rows,), (*shape,))) if len(shape) > 1 else None
        tensors = argument if reshaped is None else builder.insert(reshaped).results[0]
        layout = ItensorType.from_order(stacked_order(row.layout.order, rows), row.layout.element_type)
        pack = PackOp(tensors, layout, TensorType(word.element_type, [rows * word.get_shape()[0]]))
        try:
            pack.verify_()
        except VerifyException as error:
            what = f"words of a row of '{self._asked.input}' are not apart from those of the next ({error})"
            raise CompileError(what, where=self._where, accepted="rows of whole words") from None
        builder.insert(pack).result.name_hint = name
        assert isa(pack.result.type, TensorType)
        return with_operand(self._kernel, pack.result, MemRefType(pack.result.type.element_type, pack.result.type.get_shape()))

    # Tasks --------------------------------------------------------------------------------------------------------------

    def _repeat(self, task: TaskOp) -> None:
        """A loop over steps around the body of `task`."""
        words = stack_ports(task, self._count)
        repeated, sizes = repeated_ops(task), [op for op in task.body.block.ops if isinstance(op, SizeOp)]
        effects = [op for op in repeated if not op.has_trait(Pure)]
        loops = [op for each in effects for op in each.walk() if isinstance(op, scf.ForOp) and not is_unrolled(op)]
        if not loops:
            repeated = [once(task, repeated)]
            _direct_once(repeated[0])
        elif len(effects) == 1 and any(isinstance(value.type, StreamType) for value in task.ins):
            # Its last tokens would wait for those of the next step.
            DRAINS.put(next((loop for loop in loops if repeats(loop)), loops[0]), None)
        for op in (*sizes, *repeated):
            op.detach()
        builder = Builder(InsertPoint.before(task.terminator))
        block = repeated_block(builder, "step", self._count, [*sizes, *repeated])
        loop = loop_at(before_terminator(block))
        STEPS.put(loop, None)
        LABEL.put(loop, "step")
        for port, count in words.items():
            offset(task, port, count, block, self._where)
        _advance(task, block)

    def _credit(self, writer: str, reader: str) -> None:
        """Let the task `reader` wait, at the end of each step, until `writer` is at the end of it."""
        kernel, names = self._kernel, symbols_of(self._kernel)
        stem = f"{writer}_written"
        start = Builder(InsertPoint.before(tasks_of(kernel)[0]))
        kind = StreamType(i8, SHALLOW)
        there, back = (start.insert(CreateOp(names.fresh(stem), kind, CREDIT, CREDIT)).result for _ in range(2))
        tasks = {task.sym_name.data: task for task in tasks_of(kernel)}
        writing, given = _with_end(tasks[writer], there, is_out=True)
        inside = _at_end_of_steps(writing)
        inside.insert(WriteOp(inside.insert(arith.ConstantOp(IntegerAttr(1, i8))).result, given))
        reading, taken = _with_end(tasks[reader], back, is_out=False)
        _at_end_of_steps(reading).insert(ReadOp(taken))
        relay = TaskOp(names.fresh(f"relay_{stem}"), [there], [back], unit=self._unit_without_ports())
        Builder(InsertPoint.before(writing)).insert(relay)
        (taken,), (sent,) = relay.input_ports, relay.output_ports
        inside = _credit_loop(Builder(InsertPoint.at_end(relay.body.block)))
        inside.insert(WriteOp(inside.insert(ReadOp(taken)).result, sent))
        Builder(InsertPoint.at_end(relay.body.block)).insert(YieldOp())
        self._new.append(relay)

    def _unit_without_ports(self) -> str:
        started = self._kernel.started
        return next(task.unit for task in tasks_of(self._kernel) if task.unit is not None and task.unit not in started)


@dataclass(frozen=True)
class _EmbedBody:
    """The body of the task that looks up rows of `words` words of `lanes` entries."""

    task: TaskOp
    words: int
    lanes: int
    vocabulary: int
    adds_position: bool
    steps: int

    def fill(self, load: TaskOp, port: SSAValue) -> None:
        """With what `load`, which read a row through `port`, did with its words."""
        task, ports = self.task, list(self.task.input_ports)
        position = ports.pop(0) if self.adds_position else None
        given, found, table, *added = ports
        out, token = task.output_ports
        block = repeated_block(Builder(InsertPoint.at_end(task.body.block)), "step", self.steps)
        inside = before_terminator(block)
        loop = loop_at(inside)
        STEPS.put(loop, None)
        top = Builder(InsertPoint.before(loop))
        number, first = _array(top, i64, 1, "number"), index_constant(top, 0)
        self._choose(one_iteration(inside), given, number, block.args[0])
        first_word = self._first_word(inside, number)
        held = self._held(top, inside, table, first_word) if added else None
        at = None
        if position is not None:
            assert isinstance(position.type, SymbolType)
            row = inside.insert(SizeOp(position.type.data, [inside.insert(AdvanceOp(position, block.args[0])).result])).result
            at = self._row_at(inside, row)
        self._send(load, port, out, inside, table, first_word, held, added[0] if added else None, at)
        ending = one_iteration(inside)
        taken = ending.insert(ReadOp(found)).result
        ending.insert(vector.StoreOp(taken, number, [first]))
        ending.insert(WriteOp(taken, token))
        Builder(InsertPoint.at_end(task.body.block)).insert(YieldOp())

    def _choose(self, builder: Builder, given: SSAValue, number: SSAValue, step: SSAValue) -> None:
        """Let `number` hold what a step is given, or go on to hold what the one before found; in the first, 0."""
        first = index_constant(builder, 0)
        asked = builder.insert(vector.ExtractOp(builder.insert(ReadOp(given)).result, [0], i64)).result
        zero = builder.insert(arith.ConstantOp(IntegerAttr(0, i64))).result
        before = builder.insert(memref.LoadOp.get(number, [first])).res
        is_first = builder.insert(arith.CmpiOp(step, first, "eq")).result
        known = builder.insert(arith.SelectOp(is_first, zero, before)).result
        is_none = builder.insert(arith.CmpiOp(asked, zero, "slt")).result
        chosen = builder.insert(arith.SelectOp(is_none, known, asked)).result
        builder.insert(memref.StoreOp.get(chosen, number, [first]))

    def _first_word(self, builder: Builder, number: SSAValue) -> SSAValue:
        """Of the row of `number`, which is taken to be in the table."""
        least, most = (builder.insert(arith.ConstantOp(IntegerAttr(n, i64))).result for n in (0, self.vocabulary - 1))
        row = builder.insert(memref.LoadOp.get(number, [index_constant(builder, 0)])).res
        row = builder.insert(arith.MinSIOp(builder.insert(arith.MaxSIOp(row, least)).result, most)).result
        return self._row_at(builder, builder.insert(arith.IndexCastOp(row, IndexType())).result)

    def _row_at(self, builder: Builder, row: SSAValue) -> SSAValue:
        first = builder.insert(arith.MuliOp(row, index_constant(builder, self.words))).result
        first.name_hint = "first_word"
        return first

    def _held(self, top: Builder, builder: Builder, table: SSAValue, first_word: SSAValue) -> SSAValue:
        """An array of the row that begins there, filled in a loop of its own: pointers of a port take turns."""
        assert isa(table.type, MemRefType) and isa(table.type.element_type, VectorType)
        held = _array(top, table.type.element_type.element_type, self.words * self.lanes, "row")
        (word,), inside = loop_nest(builder, [Loop(self.words, 1)], ["word"])
        read = inside.insert(memref.LoadOp.get(table, [total(inside, [first_word, word])])).res
        inside.insert(vector.StoreOp(read, held, [self._lane(inside, word)]))
        return held

    def _lane(self, builder: Builder, word: SSAValue) -> SSAValue:
        return word if self.lanes == 1 else builder.insert(arith.MuliOp(word, index_constant(builder, self.lanes))).result

    def _send(
        self, load: TaskOp, port: SSAValue, out: SSAValue, builder: Builder, table: SSAValue, first_word: SSAValue,
        held: SSAValue | None, positions: SSAValue | None, at: SSAValue | None,
    ) -> None:
        """What `load` did, with the words of a row in place of those of its port."""
        load.output_ports[0].replace_all_uses_with(out)
        for access in [use.operation for use in port.uses]:
            assert isinstance(access, memref.LoadOp) and isa(access.res.type, VectorType)
            here, (word,) = Builder(InsertPoint.before(access)), access.indices
            if held is None or positions is None or at is None:
                made: SSAValue = here.insert(memref.LoadOp.get(table, [total(here, [first_word, word])])).res
            else:
                of_row = here.insert(vector.LoadOp(held, [self._lane(here, word)], access.res.type)).result
                of_position = here.insert(memref.LoadOp.get(positions, [total(here, [at, word])])).res
                made = here.insert(arith.AddfOp(of_row, of_position)).result
            access.res.replace_all_uses_with(made)
            Rewriter.erase_op(access)
        start = self.task.body.block.first_op
        for op in list(load.body.block.ops):
            if isinstance(op, YieldOp):
                continue
            op.detach()
            if isinstance(op, arith.ConstantOp | memref.AllocOp):
                assert start is not None
                Rewriter.insert_op(op, InsertPoint.before(start))
            else:
                builder.insert(op)


def _names(entries: ArrayAttr[DictionaryAttr] | None) -> list[str | None]:
    """Of arguments or results of the function."""
    return [] if entries is None else [NAME.of(entry) for entry in entries.data]


def _marked(entries: ArrayAttr[DictionaryAttr] | None, own: Sequence[int]) -> ArrayAttr[DictionaryAttr] | None:
    """Let the entries of what each step has its own of say so."""
    if entries is None:
        return None
    mark = STEPS.entry(None)
    return ArrayAttr([DictionaryAttr({**each.data, **mark}) if index in own else each for index, each in enumerate(entries.data)])


def _array(builder: Builder, kind: Attribute, count: int, name: str) -> SSAValue:
    made = builder.insert(memref.AllocOp([], [], MemRefType(kind, [count]))).memref
    made.name_hint = name
    return made


def _direct_once(loop: scf.ForOp) -> None:
    LABEL.put(loop, "once")
    PIPELINE.put(loop, 1)


def _advance(task: TaskOp, block: Block) -> None:
    """Scalars of the launch are those of the step in the loop whose body is `block`."""
    for port in [port for port in task.input_ports if isinstance(port.type, SymbolType)]:
        users, first = list(port.uses), block.first_op
        if not users:
            continue
        assert first is not None
        moved = Builder(InsertPoint.before(first)).insert(AdvanceOp(port, block.args[0]))
        moved.result.name_hint = port.name_hint
        for use in users:
            use.operation.operands[use.index] = moved.result


def _at_end_of_steps(task: TaskOp) -> Builder:
    """A builder of what a task does with each word of a credit, in a loop at the end of each step."""
    (loop,) = [op for op in task.body.block.ops if isinstance(op, scf.ForOp) and STEPS.on(op)]
    inside = _credit_loop(before_terminator(loop.body.block))
    LABEL.put(loop_at(inside), "credit")
    PIPELINE.put(loop_at(inside), 1)
    return inside


def _credit_loop(builder: Builder) -> Builder:
    _, inside = loop_nest(builder, [Loop(CREDIT, 1)], ["word"])
    DRAINS.put(loop_at(inside), None)
    return inside


def _with_end(task: TaskOp, stream: SSAValue, *, is_out: bool) -> tuple[TaskOp, BlockArgument]:
    """A task in place of `task` that takes or sends one more stream, and what it calls that."""
    count = len(task.ins) if not is_out else len(task.ins) + len(task.outs)
    port = task.body.block.insert_arg(stream.type, count)
    port.name_hint = "written"
    ins = list(task.ins) if is_out else [*task.ins, stream]
    outs = [*task.outs, stream] if is_out else list(task.outs)
    replaced = TaskOp(task.sym_name, ins, outs, task.detach_region(task.body), [], dict(task.attributes), task.kind, task.unit)
    Rewriter.replace_op(task, replaced)
    return replaced, port
