"""Several tokens as one launch: arrays of a kernel that computes each behind the one before (`repeat-steps`), what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from stc.diagnostics import CompileError
from stc.dialects.facts import STEPS
from stc.frontend.draws import EXAMPLE, KNOWN, uncertainty
from stc.frontend.exported import Arrays, AskedFor, ExportedModel, Reference, TokenTables
from stc.frontend.families.cached_layer import CACHES, UPDATED
from stc.frontend.signature import attribute_name, main_function

TOKENS, EMBEDDING, POSITIONS = "tokens", "embedding", "positions"
"""What a launch of several steps takes beside what each takes (`repeat-steps`)."""
ROW, POSITION, TOKEN = "x", "pos", "token"
"""Of a step: the embedding's row, where caches end, and what it finds."""


def steps_as_one(model: ExportedModel, module: ModuleOp, steps: int, tables: TokenTables) -> ExportedModel:
    """`module`, which computes `steps` tokens of `model`, with its arrays, and the outputs of one reference after the other.

    The example is given its first token, and each other draw some of the others. CompileError where no reference runs again.
    """
    if model.again is None:
        raise CompileError("steps without a reference that runs again", where=model.name, accepted="layers that PyTorch computes")
    function = main_function(module)
    given, returned = (
        frozenset(attribute_name(entry) for entry in entries or () if STEPS.on(entry))
        for entries in (function.arg_attrs, function.res_attrs)
    )
    chain = _Chain(steps, tables, given, returned, model.again)
    draws = tuple(chain.reference(draw) for draw in model.references)
    example = draws[0]
    parameters = AskedFor.of(model.parameters, step_parameters(tables))
    return replace(
        model, module=module, inputs=example.inputs, parameters=parameters, golden=example.golden, draws=draws, again=chain.run
    )


def step_parameters(tables: TokenTables) -> dict[str, np.ndarray]:
    """What a launch of several steps has among its parameters beside those of layers and head."""
    return {EMBEDDING: tables.tokens} | ({} if tables.positions is None else {POSITIONS: tables.positions})


@dataclass(frozen=True)
class _Chain:
    """The references of all steps: `given` and `returned` are what each has its own of, beside the token it begins with."""

    steps: int
    tables: TokenTables
    given: frozenset[str]
    returned: frozenset[str]
    again: Callable[[Arrays, np.random.Generator | None], Arrays]

    def run(self, arrays: Arrays, noise: np.random.Generator | None) -> dict[str, np.ndarray]:
        own = {name: array for name, array in arrays.items() if name not in (TOKENS, EMBEDDING, POSITIONS)}
        begin, token, outputs = int(arrays[POSITION]), 0, list[Arrays]()
        for step, asked in enumerate(arrays[TOKENS].tolist()):
            token = token if asked < 0 else asked
            at = {name: array[step] if name in self.given else array for name, array in own.items()}
            found = self.again({**at, ROW: self._row(token, begin + step), POSITION: np.asarray(begin + step, np.int32)}, noise)
            token = int(found[TOKEN].reshape(-1)[0])
            own |= {_cache_of(name): array for name, array in found.items() if name not in self.returned}
            outputs.append(found)
        return {
            name: np.stack([each[name] for each in outputs]) if name in self.returned else array
            for name, array in outputs[-1].items()
        }

    def _row(self, token: int, position: int) -> np.ndarray:
        """What the first layer gets, [1, 1, hidden]."""
        row = self.tables.tokens[min(max(token, 0), len(self.tables.tokens) - 1)]
        return (row if self.tables.positions is None else row + self.tables.positions[position])[None, None]

    def reference(self, draw: Reference) -> Reference:
        """One draw: of tokens, positions that the steps have room behind, and what follows from these."""
        random = np.random.default_rng(KNOWN.index(draw.name) if draw.name in KNOWN else len(KNOWN))
        asked = random.integers(0, len(self.tables.tokens), self.steps)
        found = (random.random(self.steps) < 1 / 2) | (draw.name == EXAMPLE)
        tokens = np.where(found & (np.arange(self.steps) > 0), -1, asked).astype(np.int64)
        begin = min(int(draw.inputs[POSITION]), draw.inputs[CACHES[0]].shape[-2] - self.steps)
        inputs = {name: array for name, array in draw.inputs.items() if name != ROW}
        rows = {name: table[begin : begin + self.steps][:, None, None] for name, table in self.tables.rows.items()}
        inputs |= {name: rows[name].astype(inputs[name].dtype) for name in self.given}
        inputs |= {TOKENS: tokens, POSITION: np.asarray(begin, inputs[POSITION].dtype).reshape(inputs[POSITION].shape)}
        golden = self.run(inputs, None)
        moves = partial(uncertainty, golden, lambda: self.run(inputs, random), draw.rounded)
        return Reference(draw.name, inputs, golden, moves, draw.rounded)


def _cache_of(output: str) -> str:
    """The input that the next step takes where this one returns it as `output`."""
    updated, cache = next(pair for pair in zip(UPDATED, CACHES, strict=True) if output.startswith(pair[0]))
    return f"{cache}{output.removeprefix(updated)}"
