"""A compiled language model that continues token sequences: needs model.json and what it names, not the compiler.

    model = LanguageModel(folder)                      # the C simulation; device="0" for a card
    generation = model.generate([1, 403], 64)
    for token in generation: ...
    generation.finish, generation.near_ties, generation.launches
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.manifest.model_files import mapped, mapped_table, read_model, require_cache, require_intact, require_parameters
from stc.manifest.model_schema import BINARY, DECODE, PREFILL, LayerKind, ModelManifest, StageProject
from stc.runtime.accelerator import Accelerator, Buffers, Opened, open_xrt
from stc.runtime.devices import CSIM, XRT
from stc.runtime.sampling import Sampling, margin
from stc.runtime.tokenizer import Tokenizer

POSITION = "pos"
"""The input of a layer that says how many rows its caches have."""

Caches: TypeAlias = list[dict[str, Buffers]]
"""The keys and values of one sequence, on the device: for the layers of each launch, by the name of an input, its buffer."""

Outputs: TypeAlias = Mapping[str, np.ndarray]
"""Of a launch, by name."""

Launches: TypeAlias = Counter[tuple[str, int]]
"""How often a project was launched, by its folder, at a position."""

END_OF_TEXT, LENGTH, CACHE_FULL = "end of text", "length", "cache full"


@dataclass(frozen=True)
class Limits:
    """What the model called `name` can continue: up to `max_seq` tokens below `vocabulary`."""

    name: str
    vocabulary: int
    max_seq: int

    def require(self, tokens: Sequence[int], max_new_tokens: int) -> None:
        """CompileError where it cannot continue `tokens`, or not by so many."""
        if max_new_tokens < 1:
            raise CompileError(f"{max_new_tokens} new tokens", where=self.name, accepted="one at least")
        if not 1 <= len(tokens) <= self.max_seq:
            what = f"the prompt has {len(tokens)} tokens"
            raise CompileError(what, where=self.name, accepted=f"1 to {self.max_seq} (--max-seq of its compile)")
        for token in tokens:
            if not 0 <= token < self.vocabulary:
                raise CompileError(f"token {token}", where=self.name, accepted=f"0 to {self.vocabulary - 1}")


class LanguageModel:
    """The model in `folder`, on a device: "csim", "xrt" (stc.runtime.xrt), or the index of a card as text.

    All files are checked, and all parameters are on the device, before it can be used; CompileError where something is unusable.
    """

    def __init__(self, folder: Path, device: str = CSIM, xclbin: Path | None = None):
        self.folder = folder
        self.manifest: ModelManifest = read_model(folder)
        self._device = open_xrt(folder) if device == XRT else device
        self._xclbin = xclbin or (self._device.xclbin if isinstance(self._device, Opened) else None) or folder / BINARY
        files = [mapped(folder, layer.parameters) for layer in self.manifest.layers]
        self._tokens = mapped_table(folder, self.manifest.tokens)
        self._positions = None if self.manifest.positions is None else mapped_table(folder, self.manifest.positions)
        self._masks = {name: mapped_table(folder, kind.mask) for name, kind in self.manifest.kinds.items()}
        self._rows = {name: {key: mapped_table(folder, table) for key, table in kind.rows.items()}
                      for name, kind in self.manifest.kinds.items()}
        stages = [(kind, stage) for kind in self.manifest.kinds.values() for stage in kind.stages]
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # the C simulation builds each kernel
            opened = pool.map(lambda stage: stage(), [*(partial(self._layers, *it) for it in stages), *self._heads()])
            self._accelerators = dict(zip((project.folder for project in self.manifest.projects), opened, strict=True))
        kinds = [self.manifest.kinds[layer.kind] for layer in self.manifest.layers]
        self._parameters = [self._loaded(kind, data) for kind, data in zip(kinds, files, strict=True)]

    def tokenizer(self) -> Tokenizer:
        """The model's own; CompileError where it has none."""
        if self.manifest.tokenizer is None:
            raise CompileError("the model has no tokenizer", where=self.manifest.name, accepted="numbers of tokens (--tokens)")
        return Tokenizer(require_intact(self.folder, self.manifest.tokenizer))

    def generate(
        self, tokens: Sequence[int], max_new_tokens: int, sample: Sampling | None = None, *, ends: bool = True
    ) -> Generation:
        """What follows `tokens`, token by token: greedily (the arg-max of the head's kernel), or as `sample` draws from its logits.

        It ends behind `max_new_tokens`, with a token that ends a text where `ends`, and where the cache is full. CompileError for a
        prompt that is empty, longer than the cache, or has a token that the model does not.
        """
        manifest = self.manifest
        Limits(manifest.name, manifest.vocabulary, manifest.max_seq).require(tokens, max_new_tokens)
        return Generation(self, tuple(tokens), max_new_tokens, sample, frozenset(manifest.end_tokens if ends else ()))

    def chunk(self, count: int, position: int) -> int:
        """How many of `count` tokens the next pass takes at `position`: as many as prefill has rows, if there is room for all."""
        stages = self.manifest.kinds[self.manifest.layers[0].kind].stages
        if PREFILL not in stages or position + stages[PREFILL].rows > self.manifest.max_seq:
            return 1
        return min(count, stages[PREFILL].rows)

    def forward(self, tokens: Sequence[int], position: int, caches: Caches, launches: Launches) -> Outputs:
        """What the last launch of layers gives for tokens (one, or at most a `chunk`) at `position` and behind, for `head`: as `y`
        the last of their hidden states [1, 1, hidden].

        The device appends rows to `caches`, as many as the launch has: those of no token are written again before they are read.
        CompileError where they do not fit.
        """
        count, stage = len(tokens), PREFILL if len(tokens) > 1 else DECODE
        x: np.ndarray | None = None
        found: Outputs = {}
        for layer, parameters, own in zip(self.manifest.layers, self._parameters, caches, strict=True):
            project = self.manifest.kinds[layer.kind].stages[stage]
            last = self.manifest.max_seq - project.rows
            if not 0 <= position <= last:
                what = f"{count} token{'s' if count > 1 else ''} at position {position}"
                raise CompileError(what, where=self.manifest.name, accepted=f"positions 0 to {last}")
            at = position + np.arange(project.rows)
            x = self._embedded(tokens, at) if x is None else x
            inputs = {"x": x, POSITION: np.asarray(position, np.int32), **self._rows_of(layer.kind, at)}
            if self._accelerators[project.folder].manifest.has("mask"):
                inputs["mask"] = self._mask(layer.kind, position, project)
            found = self._accelerators[project.folder](inputs, {**parameters[stage], **_buffers(own)}, resident=own.keys())
            x = found["y"]
            launches[project.folder, position] += 1
        return {**found, "y": found["y"][:, count - 1 : count]}

    @property
    def steps(self) -> int:
        """How many tokens a launch computes, each behind the one before."""
        return self.manifest.kinds[self.manifest.layers[0].kind].stages[DECODE].steps

    def follow(
        self, text: Sequence[int], rows: int, caches: Caches, launches: Launches
    ) -> tuple[int, np.ndarray, np.ndarray]:
        """What a launch of several steps finds behind `text`, of which the caches have the first `rows`: the position of its first
        step, and for each step the next token and the logits [steps, vocabulary]. Where it would go beyond the caches it begins
        before `rows`, and writes some of these again."""
        (layer,), (parameters,), (own,) = self.manifest.layers, self._parameters, caches
        project = self.manifest.kinds[layer.kind].stages[DECODE]
        begin = min(rows, self.manifest.max_seq - project.steps)
        known = text[begin : begin + project.steps]
        tokens = np.array([*known, *[-1] * (project.steps - len(known))], np.int64)
        given = {name: table[begin:][: project.steps][:, None, None] for name, table in self._rows[layer.kind].items()}
        inputs = {"tokens": tokens, POSITION: np.asarray(begin, np.int32), **given}
        found = self._accelerators[project.folder](inputs, {**parameters[DECODE], **_buffers(own)}, resident=own.keys())
        launches[project.folder, begin] += 1
        vocabulary = self.manifest.vocabulary
        chosen = found["token"].reshape(-1)
        logits = found["logits"].reshape(project.steps, -1)[:, :vocabulary]
        return begin, np.where(chosen < vocabulary, chosen, 0), logits  # which is filled up, as in `head`

    def head(self, found: Outputs, launches: Launches) -> tuple[int, np.ndarray]:
        """The next token by the kernel's arg-max, and the logits, of what `forward` found."""
        outputs = found
        if (head := self.manifest.head) is not None:
            outputs = self._accelerators[head.folder]({"x": found["y"]})
            launches[head.folder, 0] += 1
        token = int(outputs["token"].reshape(-1)[0])
        # The kernel's vocabulary is filled up with the first token (stc.frontend.families.model_rest.Head).
        return token if token < self.manifest.vocabulary else 0, outputs["logits"].reshape(-1)[: self.manifest.vocabulary]

    def caches(self) -> Caches:
        """Empty ones, for one sequence, on the device; with anything in them where no launch reads what was not written."""
        made: Caches = []
        for kind in (self.manifest.kinds[layer.kind] for layer in self.manifest.layers):
            cleared = any(project.reads_all for project in kind.stages.values())
            accelerator = self._accelerators[kind.stages[DECODE].folder]
            made.append({name: accelerator.allocated(name, cleared=cleared) for name in kind.caches})
        return made

    def modelled_seconds(self, launches: Launches) -> float | None:
        """What launches take on the card, by the projects' cycles at their positions; None where these are not known."""
        total = 0.0
        projects = {project.folder: project for project in self.manifest.projects}
        for (folder, position), count in launches.items():
            steps = [projects[folder].cycles_at(position + step) for step in range(projects[folder].steps)]
            known = [cycles for cycles in steps if cycles is not None]
            if len(known) < len(steps):
                return None
            total += count * (sum(known) / self.manifest.clock_mhz + self.manifest.launch_us) / 1e6
        return total

    def _layers(self, kind: LayerKind, stage: str) -> Accelerator:
        """The project of a stage, without parameters of its own."""
        folder = self.folder / kind.stages[stage].folder
        require_intact(self.folder, kind.stages[stage].manifest)
        manifest = read_manifest(folder)
        for name, layout in kind.caches.items():
            require_cache(manifest, name, layout, str(folder))
        parameters = {parameter.buffers[stage]: parameter.layout for parameter in kind.parameters if stage in parameter.buffers}
        require_parameters(manifest, parameters, str(folder))
        return Accelerator(folder, self._device, self._xclbin, given=parameters)

    def _heads(self) -> Iterator[Callable[[], Accelerator]]:
        """What opens the project of the head, where it has one."""
        if (head := self.manifest.head) is not None:
            yield partial(self._head, head)

    def _head(self, project: StageProject) -> Accelerator:
        require_intact(self.folder, project.manifest)
        return Accelerator(self.folder / project.folder, self._device, self._xclbin)

    def _loaded(self, kind: LayerKind, data: np.ndarray) -> dict[str, Buffers]:
        """The parameters of a layer on the device, by stage, from the bytes of its file; stages share a buffer."""
        found: dict[str, Buffers] = {stage: {} for stage in kind.stages}
        for parameter in kind.parameters:
            stage, name = next(iter(parameter.buffers.items()))
            words = data[parameter.offset : parameter.offset + parameter.layout.bytes]
            accelerator = self._accelerators[kind.stages[stage].folder]
            (buffer,) = accelerator.with_parameters({name: words}).values()
            for stage, name in parameter.buffers.items():
                found[stage][name] = buffer
        return found

    def _embedded(self, tokens: Sequence[int], at: np.ndarray) -> np.ndarray:
        """Rows of the tables for tokens at positions, filled up with the last token."""
        filled = [*tokens, *[tokens[-1]] * (len(at) - len(tokens))]
        rows = self._tokens[filled]
        return (rows if self._positions is None else rows + self._positions[at])[None]

    def _mask(self, kind: str, position: int, project: StageProject) -> np.ndarray:
        """[1, 1, rows, columns]: of the rows of the cache that the kernel reads, the last that are before `position`, and then, or
        behind all the columns that there are for the cache, of the launch's own rows; closed elsewhere."""
        rows, table = project.rows, self._masks[kind][position : position + project.rows]
        shape = self._accelerators[project.folder].manifest.tensor("mask").shape
        seen = shape[-1] - rows
        begin = max(position - seen, 0)
        own = seen if project.reads_all else position - begin
        mask = np.full(shape, -np.inf, np.float32)
        mask[0, 0, :, : position - begin] = table[:, begin:position]
        mask[0, 0, :, own : own + rows] = table[:, position : position + rows]
        return mask

    def _rows_of(self, kind: str, at: np.ndarray) -> dict[str, np.ndarray]:
        return {name: table[at][None] for name, table in self._rows[kind].items()}


def _buffers(caches: Mapping[str, Buffers]) -> Buffers:
    """Of all caches of a launch."""
    return {name: buffer for cache in caches.values() for name, buffer in cache.items()}


@dataclass
class Generation:
    """An iterator over the tokens that follow a prompt, and what can be said of them so far.

    `logits`: those that the last token was chosen by. `near_ties`: tokens whose logit the second largest comes within the model's
    tolerance of, so that another order of additions may choose the other. `launched`: each project at each position. `seconds`: the
    time this took here. `finish`: why it ended.
    """

    model: LanguageModel
    prompt: tuple[int, ...]
    max_new_tokens: int
    sample: Sampling | None
    end_tokens: frozenset[int]
    logits: np.ndarray | None = None
    near_ties: int = 0
    seconds: float = 0.0
    launched: Launches = field(default_factory=Counter[tuple[str, int]])
    finish: str | None = None

    def __post_init__(self):
        self._tokens = self._run()

    @property
    def launches(self) -> Counter[str]:
        """Of each project, by its folder."""
        return sum((Counter({folder: count}) for (folder, _), count in self.launched.items()), Counter[str]())

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        begin = time.perf_counter()
        try:
            return next(self._tokens)
        finally:
            self.seconds += time.perf_counter() - begin

    def _run(self) -> Iterator[int]:
        random = np.random.default_rng(None if self.sample is None else self.sample.seed)
        behind = _Behind(self.model, list(self.prompt), self.launched)
        for produced in range(1, self.max_new_tokens + 1):
            found, self.logits = behind.next()
            position = len(behind.text)
            if np.isnan(self.logits).any():
                what = f"the logits behind position {position - 1} are no numbers"
                raise CompileError(what, where=self.model.manifest.name, accepted="parameters and kernels that give finite ones")
            self.near_ties += margin(self.logits) < self.model.manifest.tolerance
            token = found if self.sample is None else self.sample.token(self.logits, random)
            if produced == self.max_new_tokens:
                self.finish = LENGTH
            elif token in self.end_tokens:
                self.finish = END_OF_TEXT
            elif position == self.model.manifest.max_seq:
                self.finish = CACHE_FULL
            yield token
            if self.finish is not None:
                return
            behind.append(token)


class _Behind:
    """What `model` finds behind a text that grows: its caches have `_rows` tokens of it, and `_ahead` is what launches of several
    steps found behind tokens that are not yet among it, each with its logits."""

    def __init__(self, model: LanguageModel, text: list[int], launched: Launches):
        self.text, self._model, self._launched = text, model, launched
        self._caches, self._rows = model.caches(), 0
        self._ahead: list[tuple[int, np.ndarray]] = []

    def next(self) -> tuple[int, np.ndarray]:
        """The largest token behind the text, and the logits."""
        while not self._ahead:
            if self._model.steps > 1:
                self._follow()
                continue
            count = self._model.chunk(len(self.text) - self._rows, self._rows)
            found = self._model.forward(self.text[self._rows :][:count], self._rows, self._caches, self._launched)
            self._rows += count
            if self._rows == len(self.text):
                self._ahead.append(self._model.head(found, self._launched))
        return self._ahead[0]

    def append(self, token: int) -> None:
        """The text goes on with `token`: what was found behind another one is worth nothing."""
        found, _ = self._ahead.pop(0)
        if token != found:
            self._ahead.clear()
            self._rows = len(self.text)
        self.text.append(token)

    def _follow(self) -> None:
        begin, tokens, logits = self._model.follow(self.text, self._rows, self._caches, self._launched)
        self._rows = begin + len(tokens)
        self._ahead += zip(tokens[len(self.text) - 1 - begin :].tolist(), logits[len(self.text) - 1 - begin :], strict=True)
