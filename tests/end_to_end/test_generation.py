"""Whole models write what transformers writes: the emitted C++ of each stage, a launch per layer, against one model in PyTorch."""

from __future__ import annotations

import ctypes
import json
import os
import re
import runpy
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole_models import LONG, MAX_SEQ, NEW, ROWS, Twin, close, compiled, configured, in_torch, written_by

from stc.api import CompiledModel, compile_model
from stc.diagnostics import CompileError, NoRunTimeSize
from stc.frontend.families import find_configuration
from stc.frontend.presets import FULL, SLIDING
from stc.frontend.sources import find_language_model
from stc.manifest.files import read_manifest
from stc.manifest.model_schema import DECODE, HEAD, LAYOUT_VERSION, MODEL_VERSION, PREFILL
from stc.manifest.model_sharing import sharing
from stc.pipeline import PipelineOptions
from stc.platforms.budget import PLAN, SMALL
from stc.platforms.platform import load_platform
from stc.quantisation.packed_weights import PackedFormat
from stc.runtime.csim_device import SyncDirection
from stc.runtime.language_model import CACHE_FULL, LENGTH, Caches, LanguageModel
from stc.runtime.sampling import Sampling, margin
from stc.runtime.xrt.xclbin import write_xclbin
from stc.tools.generation_check import check_generation, distance
from stc.tools.language_model import ModelStages, compile_language_model, model_request
from stc.tools.request import load, load_layers
from stc.tools.schedule_file import FILE as SCHEDULE
from stc.transforms.dataflow import size_streams
from stc_testing.commands import Ended, Stc, refused
from stc_testing.packed_checkpoints import write_packed_model
from stc_testing.small import small_options
from stc_testing.xrt import require_xrt

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

STORIES = Path(__file__).parents[2] / "examples" / "stories260K"


@dataclass(frozen=True)
class Family:
    """A tiny twin with these options of its configuration changed. `saved`: its parameters come from a file, as a user's do.
    `quantize`: how it computes, as the reference does. `layers`: of a launch."""

    twin: str
    options: dict[str, Any]
    saved: bool = False
    quantize: str = ""
    layers: int = 1


GEMMA = {"num_hidden_layers": 3, "layer_types": [SLIDING, FULL, SLIDING]}
FAMILIES = {
    "gpt2": Family("gpt2-tiny", {"vocab_size": 512}),
    "gpt2-medium": Family("gpt2-medium-tiny", {"n_layer": 2}),
    "qwen2.5": Family("qwen2.5-0.5b-tiny", {"num_hidden_layers": 2}, saved=True),
    "qwen3": Family("qwen3-0.6b-tiny", {"num_hidden_layers": 4}, layers=2),
    "tinyllama": Family("tinyllama-1.1b-tiny", {"num_hidden_layers": 3}),
    "llama-3.2": Family("llama-3.2-1b-tiny", {"num_hidden_layers": 2}),
    "gemma3": Family("gemma3-1b-tiny", GEMMA),
    "gpt2 in w8a8": Family("gpt2-tiny", {}, quantize="bits=8,kv=int8,attention=int8"),
}
"""All have room for more positions than the twin. The two twins of Gemma are one model here, with both kinds of layers; gpt2 has
one layer, and the tokenizer of stories260K."""
ELSEWHERE = ("gpt2-medium", "tinyllama", "llama-3.2")
"""On request: in `make test` gpt2-medium writes in `test_quantised_generation.py`, the decode of the others is compared in
`test_cached_layer.py`, and `test_a_story` is Llama in f32."""
ALL = [pytest.param(name, marks=pytest.mark.full if name in ELSEWHERE else ()) for name in FAMILIES]


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Twin]:
    """`twins(name)`: compiled and built once."""
    root = tmp_path_factory.mktemp("generation")
    made: dict[str, Twin] = {}

    def make(name: str) -> Twin:
        if name not in made:
            family = FAMILIES[name]
            spec = configured(root / name, family.twin, **family.options)
            if family.options.get("vocab_size") == 512:
                shutil.copy(STORIES / "tokenizer.json", root / name)
            model: Any = in_torch(spec).whole(family.quantize)
            out = root / f"{name}.out"
            if family.saved:
                model.save_pretrained(root / name)
                made[name] = Twin(compile_model(root / name, max_seq=MAX_SEQ, rows=ROWS, out=out, budget=SMALL).loaded, model)
            else:
                several: dict[str, Any] = {"layers": family.layers, "units": "memory"} if family.layers > 1 else {}
                made[name] = Twin(LanguageModel(compiled(spec, out, quantize=family.quantize, **several)), model)
        return made[name]

    return make


@pytest.mark.parametrize("name", ALL)
def test_greedy_tokens_are_those_of_transformers(twins: Callable[[str], Twin], name: str) -> None:
    twin = twins(name)
    for prompt in (LONG, LONG[:1]):
        generation = twin.compiled.generate(prompt, NEW, ends=False)
        written = list(generation)
        assert written == twin.greedy(prompt, NEW)
        expected = twin.logits([*prompt, *written[:-1]])[len(prompt) - 1 :]
        near = sum(margin(row) < 1e-4 for row in expected)
        assert (generation.finish, generation.near_ties) == (LENGTH, near)
        assert generation.logits is not None and close(generation.logits, expected[-1])


@pytest.mark.full
def test_a_packed_model_writes_as_its_reference(tmp_path: Path) -> None:
    """Integers and zero points as GPTQ stores them, with int8 activations."""
    folder, out = tmp_path / "packed", tmp_path / "out"
    heads = {"num_attention_heads": 5, "num_key_value_heads": 1, "num_hidden_layers": 2}
    configured(tmp_path / "llama", "tinyllama-1.1b-tiny", hidden_size=40, intermediate_size=56, head_dim=8, **heads)
    write_packed_model(folder, find_configuration(str(tmp_path / "llama")), PackedFormat("gptq", 4, 8, False, True))
    model: Any = find_language_model(f"config:{folder}", max_seq=16, seed=0, weights=str(folder)).model.whole("bits=4")
    twin = Twin(LanguageModel(compiled(str(folder), out, max_seq=16, quantize="bits=4")), model)
    assert list(twin.compiled.generate(LONG, 8, ends=False)) == twin.greedy(LONG, 8)


@pytest.mark.full
@pytest.mark.parametrize(
    ("twin", "text"), [("qwen2.5-0.5b-tiny", "bits=4,group=8"), ("qwen3-0.6b-tiny", "bits=8,group=16,activations=group")]
)
def test_stages_of_grouped_weights_share_a_cache(tmp_path: Path, twin: str, text: str) -> None:
    """Groups that cut the heads, and the last of which is shorter: rows of the prompt are made in the order of the groups."""
    spec = configured(tmp_path / "model", twin)
    model: Any = in_torch(spec, 16).whole(text)
    made = Twin(LanguageModel(compiled(spec, tmp_path / "out", max_seq=16, quantize=text)), model)
    assert list(made.compiled.generate(LONG, 8, ends=False)) == made.greedy(LONG, 8)


@pytest.mark.parametrize("name", ALL)
def test_logits_of_drawn_tokens(twins: Callable[[str], Twin], name: str) -> None:
    """Greedy tokens of random models repeat; drawn ones differ, and equal logits at each of them say that each row of the cache is
    right. The prompt is no multiple of the rows of a launch: its last one has a row of padding."""
    twin = twins(name)
    prompt = [*LONG, 60, 2]
    assert len(prompt) % ROWS == ROWS - 1
    written, logits = written_by(twin.compiled.generate(prompt, 32, Sampling(3.0, 1.0, 1), ends=False))
    assert len(set(written)) > 8
    expected = twin.logits([*prompt, *written])[len(prompt) - 1 : -1]
    assert close(logits, expected)
    assert list(twin.compiled.generate(prompt, 32, Sampling(3.0, 1.0, 1), ends=False)) == written


# Seeded faults: what the comparison of logits is for ---------------------------------------------------------------------


def agrees(twin: Twin) -> bool:
    """Whether logits of drawn tokens, behind a prompt, are PyTorch's."""
    written, logits = written_by(twin.compiled.generate(LONG, 8, Sampling(3.0, 1.0, 1), ends=False))
    return close(logits, twin.logits([*LONG, *written])[len(LONG) - 1 : -1])


def _stale_cache(patch: pytest.MonkeyPatch, model: LanguageModel) -> None:
    """Each launch sees one sequence's cache less: layers take each other's."""
    caches = model.caches
    patch.setattr(model, "caches", lambda: caches()[:1] * len(model.manifest.layers))


def _mask_one_off(patch: pytest.MonkeyPatch, model: LanguageModel) -> None:
    masks = {kind: np.roll(mask, 1, axis=0) for kind, mask in vars(model)["_masks"].items()}
    patch.setattr(model, "_masks", masks)


def _window_one_off(patch: pytest.MonkeyPatch, model: LanguageModel) -> None:
    """Layers with a sliding window see a position less; for one more there is no column of the mask."""
    mask = np.array(vars(model)["_masks"][SLIDING])
    window = int((mask[-1] == 0).sum())
    mask[range(window - 1, MAX_SEQ), range(MAX_SEQ - window + 1)] = -np.inf
    patch.setattr(model, "_masks", {**vars(model)["_masks"], SLIDING: mask})


def _other_layers(patch: pytest.MonkeyPatch, model: LanguageModel) -> None:
    patch.setattr(model, "_parameters", vars(model)["_parameters"][::-1])


FAULTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch, LanguageModel], None]]] = {
    "layers share a cache": ("qwen2.5", _stale_cache),
    "the mask is one off": ("qwen2.5", _mask_one_off),
    "the window is one off": ("gemma3", _window_one_off),
    "parameters are another layer's": ("qwen2.5", _other_layers),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_is_caught(twins: Callable[[str], Twin], monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    name, seed = FAULTS[fault]
    twin = twins(name)
    assert agrees(twin)
    seed(monkeypatch, twin.compiled)
    assert not agrees(twin)


APPEND_FAULTS = {
    "rows are appended one off": ("qwen2.5", "decode", r"int first_word = pos;", "int first_word = pos + 1;"),
    "a stale row of the cache is read": ("qwen2.5", "decode", r"(k_cache\[[^\]]*)\bword\]", r"\1(word + 1 < pos ? word : 0)]"),
    "a window begins one row early": ("gemma3", f"decode_{SLIDING}", r"\(pos - \(3\)\)", "(pos - (4))"),
    "a window begins one row late": ("gemma3", f"decode_{SLIDING}", r"\(pos - \(3\)\)", "(pos - (2))"),
}


@pytest.mark.parametrize("fault", APPEND_FAULTS)
def test_a_fault_of_the_device_is_caught(twins: Callable[[str], Twin], tmp_path: Path, fault: str) -> None:
    """In the C++ of decode, which reads the cache and appends to it."""
    name, *change = APPEND_FAULTS[fault]
    twin = twins(name)
    faulty = Twin(with_another_decode(twin.compiled, tmp_path, *change), twin.torch)
    try:
        assert not agrees(faulty)
    except CompileError as error:
        # Of a row that nobody wrote, in the first launch of decode or the one behind it; or that this launch had just written,
        # where the thread of the task that writes it was first.
        no_numbers = rf"the logits behind position ({len(LONG) - 1}|{len(LONG)}) are no numbers"
        assert re.fullmatch(rf"{no_numbers}|.* is read, which port \w+ wrote in this launch: the write may .*", error.what), error


def test_a_stage_is_compared_where_rows_lie_behind(twins: Callable[[str], Twin], tmp_path: Path, stc: Stc) -> None:
    """At the last position nothing shows that decode writes the next row, too."""
    model = twins("gpt2").compiled
    both = rf"\1\2 if (pos + 1 < {MAX_SEQ}) \1 + 1\2"
    faulty = with_another_decode(model, tmp_path, "decode", r"(k_cache_update\[[^;]*first_word)(\] = \w+;)", both)
    for one, code in ((model, 0), (faulty, 1)):
        told = stc("csim", one.folder / "decode")
        assert told.code == code, told.stdout


def with_another_decode(model: LanguageModel, folder: Path, stage: str, pattern: str, text: str) -> LanguageModel:
    """A copy whose C++ of decode is changed; the other stages stay built."""
    changed_stage = str(model.folder / stage)
    copy = shutil.copytree(model.folder, folder / "copy", ignore=lambda at, _: {"build"} if str(at) == changed_stage else set())
    kernel = copy / stage / "kernel.cpp"
    changed, count = re.subn(pattern, text, kernel.read_text())
    assert count
    kernel.write_text(changed)
    return LanguageModel(copy)


def test_a_stage_without_run_time_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a stage (all twins have rules for them, taken away here) reads the whole cache, says why, and writes the same."""

    def refuse(*_: object) -> None:
        raise NoRunTimeSize("a converter of rows", where="@decode", accepted="none here")

    monkeypatch.setattr(size_streams, "_sized", refuse)
    spec = configured(tmp_path / "config", "qwen2.5-0.5b-tiny", num_hidden_layers=1)
    model = LanguageModel(compiled(spec, tmp_path / "out", max_seq=8, rows=1, tile=4))
    (decode,) = (project for project in model.manifest.projects if project.folder == "decode")
    assert "decode reads the whole cache, since @decode: a converter" in decode.origin and len(decode.cycles) == 1
    twin = Twin(model, in_torch(spec, 8).whole())
    assert list(model.generate([5, 17], 4, ends=False)) == twin.greedy([5, 17], 4)
    early = with_another_decode(model, tmp_path, "decode", r"_read\.read\(\);", "_read.empty();")
    with pytest.raises(CompileError, match="_read"):  # an append that does not wait for the reading
        list(early.generate([5, 17], 4, ends=False))


def test_the_cache_ends_during_a_generation(twins: Callable[[str], Twin]) -> None:
    """The token behind the last position can still be chosen, but not be read."""
    twin = twins("gpt2")
    generation = twin.compiled.generate(LONG, 2 * MAX_SEQ, ends=False)
    written = list(generation)
    assert generation.finish == CACHE_FULL
    assert len(LONG) + len(written) == MAX_SEQ + 1
    assert written == twin.greedy(LONG, len(written))
    whole = list(range(1, 64)) + [7] * (MAX_SEQ - 63)
    generation = twin.compiled.generate(whole, 2, ends=False)
    assert list(generation) == twin.greedy(whole, 1)
    assert generation.launches == Counter(prefill=18, decode=1, head=1)  # a chunk that would pass the end goes through decode


@pytest.mark.full
def test_a_chunk_that_would_pass_the_end_of_the_cache(tmp_path: Path) -> None:
    """Its tokens go through decode, one a launch."""
    spec = configured(tmp_path / "config", "qwen3-0.6b-tiny", num_hidden_layers=1)
    model = LanguageModel(compiled(spec, tmp_path / "out", max_seq=7, rows=4))
    prompt = [*LONG, 60, 2]
    generation = model.generate(prompt, 3, ends=False)
    assert list(generation) == Twin(model, in_torch(spec, 7).whole()).greedy(prompt, 1)
    assert (generation.finish, generation.launches) == (CACHE_FULL, Counter(prefill=1, decode=3, head=1))


@pytest.mark.parametrize("name", ["gpt2", "gemma3"])
def test_stages_share_parameters(twins: Callable[[str], Twin], name: str) -> None:
    """Packed once, and one buffer on the device for both stages: what the host computes of parameters (Gemma's norms), too."""
    model = twins(name).compiled
    told = sharing(model.manifest)
    assert told.apart == 0 and told.shared == sum(layer.parameters.bytes for layer in model.manifest.layers)
    for of_layer in vars(model)["_parameters"]:
        assert of_layer["prefill"].keys() == of_layer["decode"].keys() and of_layer["decode"]
        assert all(of_layer["prefill"][key] is buffer for key, buffer in of_layer["decode"].items())


def test_launches_are_counted_and_times_modelled(twins: Callable[[str], Twin]) -> None:
    model = twins("gpt2").compiled
    generation = model.generate([*LONG, 60, 2], 3, ends=False)
    list(generation)
    assert generation.launches == Counter(prefill=2, decode=2, head=3)
    projects = {project.folder: project for project in model.manifest.projects}
    positions = {"prefill": [0, 4], "decode": [7, 8], "head": [0, 0, 0]}
    seconds = sum((projects[name].cycles_at(at) or 0) / 250e6 + 75e-6 for name, some in positions.items() for at in some)
    assert model.modelled_seconds(generation.launched) == pytest.approx(seconds)
    assert [at.position for at in projects["decode"].cycles] == [1, (MAX_SEQ - 1) // 2, MAX_SEQ - 1]
    first, middle, last = projects["decode"].cycles
    assert first.cycles < middle.cycles < last.cycles
    assert projects["decode"].cycles_at(middle.position + 9) == middle.cycles + (last.cycles - middle.cycles) / 4
    assert projects["decode"].cycles_at(0) == first.cycles and projects["head"].cycles_at(9) == projects["head"].cycles[0].cycles


def on_the_device(caches: Caches) -> list[np.ndarray]:
    """The bytes of all caches, as they lie in memory of the C simulation, in an order of their own."""
    buffers = [buffer for layer in caches for cache in layer.values() for buffer in cache.values()]
    return [np.frombuffer(ctypes.string_at(buffer.device_address, buffer.size()), np.float32) for buffer in buffers]


@pytest.mark.parametrize("name", ["qwen2.5", "gemma3", "gpt2"])
def test_nothing_behind_the_position_is_read(twins: Callable[[str], Twin], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device's caches are NaN at first, and stay so behind the last position; a row a launch or four. With 7 there instead the
    same is computed."""
    model = twins(name).compiled
    made = [model.caches(), model.caches()]
    assert all(np.isnan(array).all() for array in on_the_device(made[0]))
    for buffer in (buffer for layer in made[1] for cache in layer.values() for buffer in cache.values()):
        buffer.write(np.full(buffer.size() // 4, 7.0, np.float32))
        buffer.sync(SyncDirection.XCL_BO_SYNC_BO_TO_DEVICE)
    logits: list[Any] = []
    for caches in made:
        monkeypatch.setattr(model, "caches", lambda own=caches: own)
        generation = model.generate(LONG, 12, ends=False)
        list(generation)
        logits.append(generation.logits)
    assert np.isfinite(logits[0]).all() and np.array_equal(*logits)
    for never, seven in zip(*map(on_the_device, made), strict=True):
        written = ~np.isnan(never)
        assert 0 < written.mean() < 0.5 and np.array_equal(never[written], seven[written]) and (seven[~written] == 7).all()


def test_a_cache_shorter_than_the_window(tmp_path: Path, stc: Stc) -> None:
    """One row a launch throughout: no prefill project."""
    spec = configured(tmp_path / "model", "gemma3-1b-tiny", sliding_window=16)
    folder = tmp_path / "out"
    words = ["--config", tmp_path / "model", "--stage", "model", "--max-seq", "6", "--rows", "1", "--out", folder]
    ended = stc("compile", "--small", *words)
    told = r"decode [\d,]+ / [\d,]+ / [\d,]+ \(at positions 1 / 2 / 5\), head [\d,]+"
    assert ended.code == 0 and re.search(told, " ".join(ended.stdout.split())), ended
    assert sorted(path.name for path in folder.iterdir() if (path / "manifest.json").is_file()) == ["decode", "head"]
    twin = Twin(LanguageModel(folder), in_torch(spec, 6).whole())
    assert list(twin.compiled.generate([5, 17, 3], 9, ends=False)) == twin.greedy([5, 17, 3], 4)


@pytest.mark.parametrize("budget", [SMALL, pytest.param(PLAN, marks=[pytest.mark.full, pytest.mark.optimised])])
def test_a_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], budget: str) -> None:
    """What `make demo` runs: real weights, a real tokenizer, 200 tokens, nothing from the network. Of the cheapest design; `make
    demo` looks for the fastest one."""

    def refuse(*_: object) -> None:
        raise AssertionError("opens a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("stc.api.compile_model", partial(compile_model, budget=budget))
    monkeypatch.setattr("sys.argv", ["story.py", str(tmp_path / "out")])
    assert runpy.run_path(str(STORIES / "story.py"))["main"]() == 0
    assert re.fullmatch(rf"{budget}(/[\d.]+)?", read_manifest(tmp_path / "out" / "decode").options["budget"])
    printed = capsys.readouterr().out
    assert "Once upon a time, there was a little girl named Lily. She loved to play outside in the park." in printed
    assert "200 of 200 tokens are those of transformers; near-ties: 0" in printed


@pytest.mark.full
@pytest.mark.optimised
def test_gpt2_at_full_size(tmp_path: Path) -> None:
    """124 million random parameters, all 12 layers, a prompt that prefill takes in two chunks."""
    folder = compiled("gpt2", tmp_path / "out", max_seq=32, rows=8)
    twin = Twin(LanguageModel(folder), in_torch("gpt2", 32).whole())
    prompt = [464, 3290, 318, 257, 845, 922, 1545, 286, 502, 290, 314]
    generation = twin.compiled.generate(prompt, 16, ends=False)
    written = list(generation)
    assert written == twin.greedy(prompt, 16)
    assert generation.logits is not None and close(generation.logits, twin.logits([*prompt, *written[:-1]])[-1])
    assert generation.launches == Counter(prefill=24, decode=15 * 12, head=16)


# The command line ----------------------------------------------------------------------------------------------------


def test_text_and_json_from_the_command_line(twins: Callable[[str], Twin], stc: Stc) -> None:
    model = twins("gpt2").compiled
    tokenizer = model.tokenizer()
    prompt = tokenizer.encode("Lily")
    expected = list(model.generate(prompt, 5))  # ends with a whole character
    ended = stc("generate", model.folder, "--prompt", "Lily", "--max-new-tokens", "5")
    assert (ended.code, ended.stdout) == (0, tokenizer.decode([*prompt, *expected]) + "\n")
    assert "near-ties: 0" in ended.stderr and "tokens per second" in ended.stderr
    assert list(CompiledModel(model.folder).generate("Lily", 5)) == expected
    found = json.loads(stc("generate", model.folder, "--tokens", "5,17", "--max-new-tokens", "4", "--json").stdout)
    assert (found["tokens"], found["finish"]) == (list(model.generate([5, 17], 4)), LENGTH)
    drawn = [stc("generate", model.folder, "--tokens", "5", "--sample", f"2.5,0.9,{seed}", "--json") for seed in (1, 1, 2)]
    tokens = [json.loads(ended.stdout)["tokens"] for ended in drawn]
    assert tokens[0] == tokens[1] != tokens[2]


def test_a_quantised_generation_is_compared(twins: Callable[[str], Twin], stc: Stc) -> None:
    """With the quantised reference, and with the f32 model."""
    folder = twins("gpt2 in w8a8").compiled.folder
    words = ("generate", folder, "--tokens", "5,17,3", "--max-new-tokens", "6", "--check")
    ended = stc(*words)
    assert ended.code == 0 and "6 of 6 tokens are the quantised reference's" in ended.stderr
    assert "tokens are the f32 model's" in ended.stderr
    check = json.loads(stc(*words, "--json").stdout)["check"]
    assert check["reference"]["equal"] == 6 and check["reference"]["worst"] < 1e-4 < check["f32"]["worst"]


def test_tokens_that_differ_are_told() -> None:
    expected = np.array([[0.0, 1.0, 4.0], [3.0, 2.9999, 0.0], [3.0, 0.0, 1.0]])
    found = distance(expected, expected, 1e-4)
    assert (found.equal, found.first, found.worst, found.passed) == (3, None, 0.0, True)
    found = distance(expected - np.array([[0, 0, 0], [0.0004, 0, 0], [0, 0, 0]]), expected, 1e-4)
    assert (found.equal, found.first, found.near_ties, found.passed) == (2, 1, 1, True)
    found = distance(expected[:, ::-1], expected, 1e-4)
    assert (found.equal, found.first, found.near_ties, found.passed) == (0, 0, 0, False)


def test_a_margin_is_judged_by_what_rounding_moves_it() -> None:
    """Where the reference's own rounding errors decide, and nowhere else."""
    expected = np.array([[3.0, 2.98, 0.0], [3.0, 1.0, 0.0]])

    def moved(by: float) -> list[np.ndarray]:
        return [expected, expected + np.array([[0, by, 0], [0, 0, 0]])]

    other = expected + np.array([[0, 0.03, 0], [0, 0, 0]])
    assert not distance(other, expected, 1e-4).passed
    found = distance(other, expected, 1e-4, moved(0.021))
    assert (found.equal, found.near_ties, found.passed) == (1, 1, True) and found.noise == pytest.approx(0.007)
    assert not distance(other, expected, 1e-4, moved(0.019)).passed  # rounding errors leave the token as it is
    far = expected + np.array([[0, 0.2, 0], [0, 0, 0]])
    assert not distance(far, expected, 1e-4, moved(0.021)).passed  # they move it less far
    wrong = expected + np.array([[0, 0, 0], [0, 2.01, 0]])
    assert not distance(wrong, expected, 1e-4, moved(0.021)).passed  # of another token


def test_a_fault_of_a_quantised_model_is_no_near_tie(twins: Callable[[str], Twin]) -> None:
    """Of the reference's own logits, behind its own tokens: those of noise pass, those of a neighbouring row do not."""
    twin = twins("gpt2 in w8a8")
    written = list(twin.compiled.generate(LONG, 9, ends=False))
    expected = twin.logits([*LONG, *written[:-1]])[len(LONG) - 1 :]
    check = partial(check_generation, twin.compiled.manifest, LONG, written)
    assert check(expected).reference.noise is None
    found = check(np.roll(expected, 1, axis=1)).reference
    assert not found.passed and found.near_ties == 0 and found.noise is not None and 0 < found.noise < 1e-2


REFUSED = {
    "nothing": ((), "nothing to continue", "--prompt TEXT"),
    "both": (("--prompt", "a", "--tokens", "1"), "both --prompt and --tokens"),
    "words": (("--tokens", "1,two"), "--tokens 1,two", "numbers of tokens"),
    "unknown token": (("--tokens", "1,512"), "token 512", "0 to 511"),
    "negative token": (("--tokens=-1",), "token -1", "0 to 511"),
    "long": (("--tokens", ",".join(["1"] * (MAX_SEQ + 1))), f"the prompt has {MAX_SEQ + 1} tokens", f"1 to {MAX_SEQ}"),
    "no new tokens": (("--tokens", "1", "--max-new-tokens", "0"), "0 new tokens"),
    "sampling": (("--tokens", "1", "--sample", "1,0,3"), "accepted: temperature,top-p,seed"),
    "two of sampling": (("--tokens", "1", "--sample", "1,0.5"), "accepted: temperature,top-p,seed"),
    "device": (("--tokens", "1", "--device", "gpu"), "--device gpu", "csim, xrt"),
    "binary": (("--tokens", "1", "--xclbin", "a.xclbin"), "--xclbin a.xclbin: C simulation loads no binary", "--device xrt"),
    "card": (("--tokens", "1", "--device", "1"), "there is no card", "--device csim, or xrt"),
    "compiled": (("--tokens", "1", "--max-seq", "8"), "compiled already"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_model_cannot_continue(twins: Callable[[str], Twin], stc: Stc, case: str) -> None:
    arguments, *expected = REFUSED[case]
    refused(stc("generate", twins("gpt2").compiled.folder, *arguments), *expected)


@pytest.fixture
def not_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a model with a tokenizer, where nothing must be compiled."""
    monkeypatch.setattr("stc.tools.language_model.compile_from", lambda *_: pytest.fail("it was compiled"))
    configured(tmp_path / "model", "gpt2-tiny", vocab_size=512)
    shutil.copy(STORIES / "tokenizer.json", tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("case", [case for case in REFUSED if case != "compiled"])
def test_it_is_refused_before_a_compile(not_compiled: Path, stc: Stc, case: str) -> None:
    arguments, *expected = REFUSED[case]
    refused(stc("generate", not_compiled, "--max-seq", str(MAX_SEQ), *arguments), *expected)


def test_one_binary_of_all_stages(twins: Callable[[str], Twin], stc: Stc, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a card is given: the kernels of every stage under names of their own, each port with its bank."""
    folder = twins("gpt2").compiled.folder
    kernels = [kernel for manifest in folder.glob("*/manifest.json") for kernel in read_manifest(manifest.parent).kernels]
    lines = (folder / "connectivity.cfg").read_text().splitlines()
    ports = [f"{kernel.name}_1.{port.name}" for kernel in kernels for port in kernel.ports]
    assert sorted(line for line in lines if line.startswith("nk=")) == sorted(f"nk={k.name}:1:{k.name}_1" for k in kernels)
    assert sorted(line[3:].split(":")[0] for line in lines if line.startswith("sp=")) == sorted(ports) and len(kernels) == 3
    dry = subprocess.run(["make", "-n", "-C", folder, "xclbin"], capture_output=True, text=True, check=True).stdout
    assert all(f"-k {kernel.name} " in dry and f"/build/{kernel.name}.xo" in dry for kernel in kernels)
    assert "-o build/model.link.xclbin" in dry and "--input build/model.link.xclbin" in dry
    assert "--output build/model.xclbin" in dry
    assert all(f"--key-value USER:stc-{kernel.name}-" in dry for kernel in kernels)
    monkeypatch.setattr("stc.runtime.xrt.device.has_card", lambda: True)
    ended = stc("generate", folder, "--tokens", "1", "--device", "xrt")
    refused(ended, "build/model.xclbin: no such file", f"make -C {folder} xclbin")


STAGES = ["prefill", "decode", "head"]


def test_each_stage_is_run_by_one_command(twins: Callable[[str], Twin], stc: Stc, tmp_path: Path) -> None:
    """Named as the model says, each with its own verdict, and one exit code."""
    model = twins("gpt2").compiled
    ended = stc("csim", model.folder, "--inputs", "example")
    assert ended.code == 0 and re.findall(r"^(\w+):$", ended.stdout, re.MULTILINE) == STAGES
    faulty = with_another_decode(model, tmp_path, "decode", r"int first_word = pos;", "int first_word = pos + 1;").folder
    ended = stc("csim", faulty, "--inputs", "example", "--json")
    passed = {stage: told["passed"] for stage, told in json.loads(ended.stdout).items()}
    assert (ended.code, passed) == (1, {"prefill": True, "decode": False, "head": True})


def test_time_of_each_stage(twins: Callable[[str], Twin], stc: Stc) -> None:
    """At a position, which the head has none of."""
    folder = twins("gpt2").compiled.folder
    found = json.loads(stc("simulate", folder, "--at", "pos=3", "--json").stdout)
    alone = {stage: json.loads(stc("simulate", folder / stage, "--at", "pos=3", "--json").stdout) for stage in STAGES[:2]}
    assert list(found) == STAGES and all(found[stage]["cycles"] == alone[stage]["cycles"] for stage in alone)
    assert list(json.loads(stc("estimate", folder, "--json").stdout)) == STAGES
    assert stc("simulate", folder, "--static").code == 0
    refused(stc("simulate", folder, "--at", "seq=3"), "prefill: the design has no scalar 'seq'; accepted: pos")
    last = MAX_SEQ - ROWS
    told = f"prefill: scalar 'pos' is {last + 1}; accepted: a value from 0 to {last}"
    refused(stc("simulate", folder, "--at", f"pos={last + 1}"), told)
    refused(stc("simulate", folder, "--why", "x"), "--why is about one stage", f"accepted: {folder}/prefill, {folder}/decode, ")


def test_a_page_for_each_stage(twins: Callable[[str], Twin], stc: Stc) -> None:
    folder = twins("gpt2").compiled.folder
    assert stc("report", folder).code == 0
    assert all((folder / stage / "build" / "report.html").is_file() for stage in STAGES)


def test_what_is_compiled_is_no_model_to_compile(twins: Callable[[str], Twin], stc: Stc, tmp_path: Path) -> None:
    folder = twins("gpt2").compiled.folder
    for words in (("check",), ("compile", "--out", tmp_path / "out")):
        refused(stc(*words, folder), f"{folder} is compiled already; accepted: the commands on what is: stc generate, csim")
        refused(stc(*words, folder / "head"), "head is compiled already; accepted: the commands on what is: stc csim")


def test_the_host_program_of_a_model(twins: Callable[[str], Twin]) -> None:
    model = twins("gpt2").compiled

    def ended(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(model.folder / "host.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    written = ended("--tokens", "5,17,3", "--max-new-tokens", "4", "--device", "csim")
    assert (written.returncode, written.stderr) == (0, "")
    assert [int(token) for token in written.stdout.split()] == list(model.generate([5, 17, 3], 4))
    for arguments, told in ((("--tokens", "512"), "token 512"), (("--tokens", "a"), "numbers with commas")):
        wrong = ended(*arguments, "--device", "csim")
        assert wrong.returncode == 2 and told in wrong.stderr and "Traceback" not in wrong.stderr


def test_the_host_program_of_a_model_on_xrt(twins: Callable[[str], Twin], tmp_path: Path) -> None:
    """One xclbin of all stages behind the vendor's runtime, caches and parameters in buffers that several launches take."""
    require_xrt()
    model = twins("gpt2").compiled
    command = [sys.executable, model.folder / "host.py", "--tokens", "5,17,3", "--max-new-tokens", "4", "--device", "xrt"]
    written = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (written.returncode, written.stderr) == (0, "")
    assert [int(token) for token in written.stdout.split()] == list(model.generate([5, 17, 3], 4))
    stage = model.folder / "decode"
    write_xclbin(tmp_path / "other.xclbin", {stage: read_manifest(stage)}, load_platform("u55c").memory, [])
    wrong = subprocess.run([*command, "--xclbin", tmp_path / "other.xclbin"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "other.xclbin: not of this project" in wrong.stderr and "Traceback" not in wrong.stderr


def test_one_make_for_all_stages(twins: Callable[[str], Twin]) -> None:
    folder = twins("gpt2").compiled.folder
    dry = subprocess.run(["make", "-n", "-C", folder, "csim"], capture_output=True, text=True, check=True).stdout
    assert f"for stage in {' '.join(STAGES)}; do" in dry


def test_an_interrupted_compile_goes_on(tmp_path: Path) -> None:
    """Layers that were packed are not packed again; what is written is what one compile writes."""
    spec, out = configured(tmp_path / "config", "gpt2-tiny", n_layer=3), tmp_path / "out"  # whose stages compile soonest
    request = model_request(spec, 8, None, 0, small_options(rows=1))

    def interrupt(step: str) -> None:
        if step == "packing layer 2 of 3":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_language_model(request, out, interrupt)
    packed = {path.name: path.stat().st_mtime_ns for path in (tmp_path / ".out.partial" / "parameters").iterdir()}
    assert sorted(packed) == ["000.bin", "001.bin"] and not out.exists()
    model = compile_language_model(request, out)
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "parameters").iterdir()}
    assert sorted(kept) == ["000.bin", "001.bin", "002.bin"] and packed.items() <= kept.items()
    twin = Twin(LanguageModel(out), in_torch(spec, 8).whole())
    assert len(model.layers) == 3 and list(twin.compiled.generate([5, 17], 4, ends=False)) == twin.greedy([5, 17], 4)


ALONE = PipelineOptions.rows


@pytest.mark.parametrize(("rows", "of_stages"), [(1, {DECODE: ALONE, HEAD: ALONE}), (3, {PREFILL: 3, DECODE: 3, HEAD: ALONE})])
def test_rows_are_those_of_a_prompt(tmp_path: Path, rows: int, of_stages: dict[str, int]) -> None:
    """What has no prompt beside it, with which it shares caches, is tiled as it is alone."""
    spec = configured(tmp_path / "config", "gpt2-tiny", n_layer=2)
    stages = ModelStages(
        model_request(spec, 8, None, 0, small_options(rows=rows)), find_language_model(spec, max_seq=8, seed=0, weights=None)
    )
    starts = {stage: stages.start(stage, "", sized=False) for stage in (*stages.rows_of, HEAD)}
    assert {stage: start.request.options.rows for stage, start in starts.items()} == of_stages


def test_the_head_follows_the_layers_in_their_launch(tmp_path: Path) -> None:
    """Two layers and the head in one launch, with the weights of each: tokens are those of transformers."""
    spec, out = configured(tmp_path / "config", "gpt2-tiny", n_layer=2), tmp_path / "out"
    behind: dict[str, Any] = {"head": "behind-layers", "layers": 2, "units": "memory"}
    twin = Twin(LanguageModel(compiled(spec, out, rows=1, **behind)), in_torch(spec).whole(""))
    generation = twin.compiled.generate(LONG[:2], 6, ends=False)
    assert list(generation) == twin.greedy(LONG[:2], 6)
    assert generation.launches == {"decode": 7} and twin.compiled.manifest.head is None
    assert generation.logits is not None


def test_a_token_on_one_array(tmp_path: Path, stc: Stc) -> None:
    """Pairs of products of two layers and of the head take turns on shared multipliers, and give what PyTorch gives. With more DSPs
    the head has more copies, whose words are narrower than those of layers."""
    configured(folder := tmp_path / "config", "gpt2-tiny", n_layer=2, n_embd=32, vocab_size=40)
    asked = ("--stage", "token", "--layers", 2, "--units", "memory", "--max-seq", 8, "--run-time-sizes", "--budget", "dsp=700")
    shared = ("--weight-ports", "in-turn", "--contractions", "shared", "--quantize", "bits=4,group=32,activations=group")
    ended = stc("compile", folder, *asked, *shared, "--check", "--out", out := tmp_path / "out")
    assert ended.code == 0, ended
    sends = re.findall(r"array(?:_\d+)?_send\((.*)\);", (out / "kernel.cpp").read_text())
    assert any("lm_head" in each and re.search("attn_c|mlp_c", each) for each in sends), sends


@pytest.mark.parametrize("quantize", ["bits=8,except=lm_head", "bits=8,lm_head.bits=4"])
def test_what_formats_say_of_the_head_is_not_of_layers_in_front(tmp_path: Path, quantize: str) -> None:
    spec = configured(tmp_path / "config", "gpt2-tiny", n_layer=2)
    options = small_options(rows=1, layers=2, units="memory", head="behind-layers", quantize=quantize)
    request = model_request(spec, 8, None, 0, options)
    start = ModelStages(request, find_language_model(spec, max_seq=8, seed=0, weights=None)).start(DECODE, "", sized=True)
    assert ["token" in layer.golden for layer in start.layers] == [False, True]
    asked = replace(request, stage="token", max_seq=8, run_time_sizes=True)
    assert [layer.golden.keys() for layer in load_layers(asked, load(asked))] == [layer.golden.keys() for layer in start.layers]


def test_a_head_behind_layers_that_are_not_all_in_a_launch(tmp_path: Path, stc: Stc) -> None:
    configured(folder := tmp_path / "config", "gpt2-tiny", n_layer=2)
    asked = ("compile", folder, "--head", "behind-layers", "--small", "--out", tmp_path / "out")
    refused(stc(*asked, "--stage", "decode"), "--head behind-layers with --stage decode; accepted: --stage model or token")
    accepted = "accepted: --layers 2 --rows 1, or --head apart"
    refused(stc(*asked, "--stage", "model", "--rows", 1), "--head behind-layers with 2 launches of layers", accepted)


def test_rows_that_a_stage_says_itself(tmp_path: Path) -> None:
    """Where those of a prompt say nothing of it, its own schedule does."""
    spec, schedules = configured(tmp_path / "config", "gpt2-tiny", n_layer=2), tmp_path / "schedules"
    for stage in (DECODE, HEAD):
        (schedules / stage).mkdir(parents=True)
        (schedules / stage / SCHEDULE).write_text("[stc.options]\nrows = 5\n")
    request = model_request(spec, 8, None, 0, small_options(rows=1, schedule=str(schedules)))
    stages = ModelStages(request, find_language_model(spec, max_seq=8, seed=0, weights=None))
    assert stages.start(HEAD, "", sized=False).options.rows == 5


def test_schedules_of_stages_are_given_back(twins: Callable[[str], Twin], tmp_path: Path, stc: Stc) -> None:
    """A folder with STAGE/schedule.toml, as a compiled model is one: kernels are the same, byte for byte."""
    whole, given, out = twins("gpt2").compiled.folder, tmp_path / "given", tmp_path / "out"
    for stage in ("decode", "head"):
        (given / stage).mkdir(parents=True)
        shutil.copyfile(whole / stage / SCHEDULE, given / stage / SCHEDULE)
    spec = configured(tmp_path / "gpt2", FAMILIES["gpt2"].twin, **FAMILIES["gpt2"].options)
    compiled(spec, out, rows=1, schedule=str(given))
    for stage in ("decode", "head"):
        assert (out / stage / "kernel.cpp").read_bytes() == (whole / stage / "kernel.cpp").read_bytes()

    def ended(schedule: Path) -> Ended:
        return stc("compile", "gpt2-tiny", "--stage", "model", "--rows", 1, "--schedule", schedule, "--out", tmp_path / "none")

    refused(ended(given / "head" / SCHEDULE), "the schedule of a whole model is a folder; accepted: ")
    refused(ended(tmp_path), "no stage has a schedule here")
    (given / "head").rename(given / "heat")
    refused(ended(given), "no stage is called 'heat', did you mean 'head'?; accepted: decode, head")
    assert not (tmp_path / "none").exists()


def test_what_else_is_refused_before_a_compile(
    not_compiled: Path, stc: Stc, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def ended(*arguments: str | Path) -> Ended:
        return stc("generate", not_compiled, *arguments)

    refused(ended("--prompt", "Lily " * 200), "the prompt has ", "1 to 128 (--max-seq of its compile)")
    refused(ended("--prompt", "Lily", "--out", not_compiled), "output folder is not empty")
    refused(ended("--prompt", "Lily", "--layers", "2"), "--layers 2, and the model has 1; accepted: --layers 1: rows of layers")
    kinds = configured(tmp_path / "kinds", "gemma3-1b-tiny", num_hidden_layers=4, layer_types=[SLIDING, SLIDING, FULL, FULL])
    folder = kinds.removeprefix("config:")
    told = f"--layers 4, and the model has 4 of the kinds {SLIDING}, {SLIDING}, {FULL}, {FULL}; accepted: --layers 1 or 2: rows"
    refused(stc("generate", folder, "--tokens", "1", "--max-seq", "8", "--layers", "4"), told)
    tokenizer = not_compiled / "tokenizer.json"
    tokenizer.write_text("{")
    refused(ended("--prompt", "Lily"), "tokenizer.json: no tokenizer", "accepted: a tokenizer.json")
    tokenizer.unlink()
    refused(ended("--prompt", "Lily"), "the model has no tokenizer", "accepted: --tokens 5,17,3")
    monkeypatch.setattr("stc.runtime.xrt.device.has_card", lambda: True)
    refused(ended("--tokens", "1", "--device", "xrt"), "no binary for the card", "--xclbin FILE")
    refused(ended("--tokens", "1", "--device", "xrt", "--xclbin", tmp_path / "none"), "none: no such file")
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(ended("--tokens", "1"), "C++ compiler 'g++' not found")


def test_a_position_that_is_not_there(twins: Callable[[str], Twin]) -> None:
    model = twins("gpt2").compiled
    for position in (-1, MAX_SEQ):
        with pytest.raises(CompileError, match=f"1 token at position {position}; accepted: positions 0 to {MAX_SEQ - 1}"):
            model.forward([1], position, model.caches(), Counter())
    with pytest.raises(CompileError, match=f"2 tokens at position {MAX_SEQ - 3}; accepted: positions 0 to {MAX_SEQ - ROWS}"):
        model.forward([1, 2], MAX_SEQ - 3, model.caches(), Counter())


def _manifest(folder: Path, change: Callable[[Any], object]) -> None:
    path = folder / "model.json"
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def _truncated(folder: Path) -> None:
    file = folder / "parameters" / "000.bin"
    file.write_bytes(file.read_bytes()[:-64])


def _corrupted(folder: Path) -> None:
    file = folder / "parameters" / "000.bin"
    data = bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(data)


def _other_table(folder: Path) -> None:
    tokens = folder / "tokens.bin"
    tokens.write_bytes(bytes(tokens.stat().st_size))


def _other_project(folder: Path) -> None:
    manifest = folder / "decode" / "manifest.json"
    manifest.write_text(manifest.read_text() + " ")


def _parameter(folder: Path, change: Callable[[Any], object]) -> None:
    """Change what model.json says of the second parameter."""
    _manifest(folder, lambda it: change(it["kinds"][""]["parameters"][1]))


DAMAGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (_truncated, "parameters/000.bin: file has "),
    "corrupted": (_corrupted, "parameters/000.bin: checksum differs"),
    "missing": (lambda folder: (folder / "positions.bin").unlink(), "positions.bin: file is missing"),
    "another model's": (_other_table, "tokens.bin: checksum differs"),
    "another project": (_other_project, "decode/manifest.json: file has "),
    "version": (lambda folder: _manifest(folder, lambda it: it.update(version=0)), f"packing version 0; accepted: {MODEL_VERSION}"),
    "cache version": (
        lambda folder: _manifest(folder, lambda it: it["kinds"][""]["caches"]["k_cache"].update(version=7)),
        f"cache k_cache of kind '' has layout version 7; accepted: {LAYOUT_VERSION}",
    ),
    "cache layout": (
        lambda folder: _manifest(folder, lambda it: it["kinds"][""]["caches"]["v_cache"]["order"]["coordinates"].reverse()),
        "v_cache of the kernel has order {'element': [",
    ),
    "cache's bank": (
        lambda folder: _manifest(folder, lambda it: it["kinds"][""]["caches"]["v_cache"].update(bank=5)),
        "v_cache of the kernel has bank 1: a cache of another layout; accepted: bank 5",
    ),
    "parameter version": (
        lambda folder: _parameter(folder, lambda it: it["layout"].update(version=1)),
        f"parameter ln_1_bias of kind '' has layout version 1; accepted: {LAYOUT_VERSION}",
    ),
    "parameter layout": (
        lambda folder: _parameter(folder, lambda it: it["layout"].update(element_type="f64")),
        "ln_1_bias of the kernel has element_type f32: parameters of another layout; accepted: element_type f64",
    ),
    "parameter's bank": (
        lambda folder: _parameter(folder, lambda it: it["layout"].update(bank=5)),
        "ln_1_bias of the kernel has bank 2: parameters of another layout; accepted: bank 5",
    ),
    "parameter's place": (
        lambda folder: _parameter(folder, lambda it: it.update(offset=0)),
        "a parameter of kind '' at byte 0; accepted: byte 128, one behind the other",
    ),
    "parameter of no stage": (
        lambda folder: _parameter(folder, lambda it: it.update(buffers={"head": "x"})),
        "a parameter of kind '' at byte 128 is taken by head; accepted: prefill, decode",
    ),
    "parameter twice": (
        lambda folder: _parameter(folder, lambda it: it["buffers"].update(decode="ln_1_weight")),
        "decode of kind '' takes parameter ln_1_weight twice",
    ),
    "parameter that a stage lacks": (
        lambda folder: _parameter(folder, lambda it: it["buffers"].pop("decode")),
        "decode: parameter ln_1_bias is either not packed or not the kernel's; accepted: ln_1_weight, ln_1_bias, ",
    ),
    "no such cache": (
        lambda folder: _manifest(folder, lambda it: it["kinds"][""].update(caches={"x": it["kinds"][""]["caches"]["k_cache"]})),
        "no kernel updates input 'x' in place",
    ),
    "no layers": (lambda folder: _manifest(folder, lambda it: it.update(layers=[])), "the model has no layers"),
    "kind": (lambda folder: _manifest(folder, lambda it: it["layers"][0].update(kind="other")), "layer 0 is of kind 'other'"),
    "table": (lambda folder: _manifest(folder, lambda it: it.update(vocabulary=511)), "table tokens has shape"),
    "no JSON": (lambda folder: (folder / "model.json").write_text("{"), "not valid JSON"),
    "no tokenizer": (lambda folder: _manifest(folder, lambda it: it.update(tokenizer=None)), "no tokenizer"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_models(twins: Callable[[str], Twin], stc: Stc, tmp_path: Path, case: str) -> None:
    damage, expected = DAMAGED[case]
    copy = shutil.copytree(twins("gpt2").compiled.folder, tmp_path / "copy")
    damage(copy)
    refused(stc("generate", copy, "--prompt", "Lily"), expected)


def test_parameters_of_another_layer(twins: Callable[[str], Twin], stc: Stc, tmp_path: Path) -> None:
    """As many bytes for the same ports, but not this layer's."""
    copy = shutil.copytree(twins("qwen2.5").compiled.folder, tmp_path / "copy")
    parameters = copy / "parameters"
    shutil.copyfile(parameters / "001.bin", parameters / "000.bin")
    refused(stc("generate", copy, "--tokens", "1"), "parameters/000.bin: checksum differs")


def test_an_unsupported_attention(stc: Stc, tmp_path: Path) -> None:
    """Positions that are neither rows nor rotary tables: a bias of its own for each head."""
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bloom", "hidden_size": 16, "n_layer": 1, "n_head": 2}))
    refused(stc("generate", tmp_path, "--tokens", "1"), "accepted:")


def test_no_model(stc: Stc, tmp_path: Path) -> None:
    refused(stc("generate", tmp_path, "--tokens", "1"), "config.json")
    refused(stc("generate", "gpt3", "--tokens", "1"), "unknown model gpt3")
    refused(stc("generate", "gpt2-tiny", "--tokens", "1", "--max-seq", "65"), "--max-seq 65", "1 to 64")
    refused(stc("compile", "block.mlir", "--stage", "model", "--out", tmp_path / "out"), "no language model")
    assert not list(tmp_path.iterdir())


def test_an_interrupted_generation_leaves_nothing(twins: Callable[[str], Twin], tmp_path: Path) -> None:
    folder = twins("gpt2").compiled.folder
    before = sorted(folder.rglob("*"))
    arguments = [str(Path(sys.executable).parent / "stc"), "generate", str(folder), "--prompt", "Lily", "--max-new-tokens", "999"]
    own = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=own)
    assert process.stdout is not None and process.stdout.read(6)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, b"stc: interrupted\n")
    assert sorted(folder.rglob("*")) == before and not list(tmp_path.iterdir())
