"""benchmarks/gpu.py on the CPU, with a tiny model of random weights; power from a made-up meter."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

pytestmark = pytest.mark.heavy


@pytest.fixture
def gpu(benchmark_module: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    module = benchmark_module("gpu")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # as main sets it, and undone
    monkeypatch.setattr(module, "DATA", tmp_path / "gpu.json")
    return module


CPU = ["gpt2-tiny", "--device", "cpu", "--dtype", "float32", "--repeat", "1", "--lengths", "5"]


def test_a_tiny_model_is_measured(gpu: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "power_reader", lambda _: lambda: 12.0)
    assert gpu.main([*CPU, "--json"]) == 0
    printed = capsys.readouterr()
    (row,) = json.loads(printed.out)
    assert row["design"] == "gpt2-tiny [5:5]" and "CPU" in row["system"] and "float32" in row["system"]
    assert 0 < row["ttft_ms"] < row["latency_ms"] and row["tokens_per_second"] > 0
    assert row["latency_ms"] - row["ttft_ms"] == pytest.approx(4e3 / row["tokens_per_second"])
    assert row["watts"] == 12.0 and row["joules_per_token"] == pytest.approx(12e-3 * row["latency_ms"] / 5)
    assert "12.0 W" in printed.err and "J a token" in printed.err


def test_greedy_tokens_are_those_of_transformers(gpu: ModuleType) -> None:
    """The loop that is timed computes what `generate` does: as many forward passes, each on the cache of the last."""
    import torch

    model = gpu.load("gpt2-tiny", "cpu", "float32")
    lengths, forward = list[tuple[int, int]](), model.forward

    def counted(tokens: torch.Tensor, **options: object) -> object:
        out = forward(tokens, **options)
        lengths.append((tokens.shape[1], out.past_key_values.get_seq_length()))
        return out

    model.forward = counted
    gpu.generate(model, torch.tensor([[5, 17, 3]]), 4)
    assert lengths == [(3, 3), (1, 4), (1, 5), (1, 6)]


def test_power_is_sampled_while_it_runs(gpu: ModuleType) -> None:
    with gpu.sampled(lambda: 3.0) as samples:
        time.sleep(3 * gpu.SAMPLE_SECONDS)
    assert samples and set(samples) == {3.0}
    with gpu.sampled(None) as none:
        pass
    assert none == [] and gpu.power_reader("cpu") is None


def test_power_is_read_by_the_program_or_the_library(
    gpu: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setattr(gpu, "card_of", lambda device: f"GPU-{device[-1]}")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu.power_reader("cuda") is None
    program = tmp_path / "nvidia-smi"
    program.write_text('#!/bin/sh\n[ "$1" = --id=GPU-1 ] && echo 71.5\n')
    program.chmod(0o755)
    assert gpu.power_reader("cuda:1")() == 71.5 and gpu.power_reader("cuda:0") is None
    library = SimpleNamespace(
        nvmlInit=lambda: None, nvmlDeviceGetHandleByUUID=lambda card: int(card[4:]), NVMLError=RuntimeError,
        nvmlDeviceGetPowerUsage=lambda handle: 1000 * handle + 500,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "pynvml", library)
    assert gpu.power_reader("cuda:2")() == 2.5


def test_the_card_that_is_read_is_the_one_that_runs(gpu: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA may see some of the cards only, in another order: numbers of one are not those of the other."""
    import torch

    found = {"cuda:0": SimpleNamespace(uuid="7c01"), "cuda": SimpleNamespace(uuid="7c01")}
    monkeypatch.setattr(torch.cuda, "get_device_properties", found.__getitem__)
    assert gpu.card_of("cuda:0") == gpu.card_of("cuda") == "GPU-7c01"


def test_a_card_without_room_is_said(
    gpu: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(gpu, "load", full)
    assert gpu.main(CPU) == 2
    error = capsys.readouterr().err
    assert error == "error: --device cpu: it has no room for gpt2-tiny; accepted: a smaller model, --dtype, or --lengths\n"


def test_what_was_measured_before_an_error_is_kept(gpu: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main([*CPU, "64", "--keep"]) == 2
    assert [series.designs for series in gpu.kept(gpu.DATA)] == [["gpt2-tiny [5:5]"]] * 3 and capsys.readouterr().err


def test_rows_are_kept_as_published_figures_are(gpu: ModuleType, tmp_path: Path) -> None:
    def row(length: int, speed: float) -> object:
        return gpu.Row(f"m [{length}:{length}]", "a GPU", 8.0, speed, 90.0, None, None, "today")

    file = tmp_path / "rows.json"
    gpu.keep([row(32, 100.0), row(64, 90.0)], file)
    gpu.keep([row(32, 110.0)], file)
    decode, ttft, latency = gpu.kept(file)
    assert (decode.quantity, decode.system, decode.origin) == ("decode", "a GPU", "executed")
    assert decode.of("m [32:32]") == 110.0 and decode.of("m [64:64]") == 90.0 and decode.of("m [1:1]") is None
    assert ttft.of("m [32:32]") == 8.0 and latency.of("m [32:32]") == 90.0
    assert gpu.kept(tmp_path / "none.json") == []


def test_rows_of_several_days_name_them_all(gpu: ModuleType, tmp_path: Path) -> None:
    rows = [gpu.Row(f"m [{length}:{length}]", "a GPU", 8.0, 9.0, 90.0, watts, watts / 4, day)
            for length, watts, day in ((32, 2.0, "monday"), (64, 8.0, "tuesday"))]  # fmt: skip
    gpu.keep(rows, tmp_path / "rows.json")
    *_, energy = gpu.kept(tmp_path / "rows.json")
    assert energy.source == "monday; tuesday" and energy.quantity == "energy" and energy.values == [2.0, 0.5]


@pytest.mark.parametrize("arguments, said", [
    (["nope", "--device", "cpu"], "unknown model nope; accepted: gpt2"),
    (["gpt2-tiny", "--device", "tpuu"], "no device is called 'tpuu'; accepted: cuda, cuda:N, or cpu"),
    (["gpt2-tiny", "--device", "meta"], "meta is not measured; accepted: cuda, cuda:N, or cpu"),
    (["gpt2-tiny", "--device", "cpu", "--dtype", "int3"], "no dtype is called 'int3'; accepted: float32, float16, bfloat16"),
    (["gpt2-tiny", "--device", "cpu", "--lengths", "64"], "64 tokens behind a prompt of 64; accepted: at most 32 each"),
])  # fmt: skip
def test_what_cannot_be_measured_is_said(
    gpu: ModuleType, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert gpu.main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error and error.startswith("error: ") and error.count("\n") == 1


def test_a_folder_without_weights_is_said(gpu: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    assert gpu.main([str(tmp_path), "--device", "cpu"]) == 2
    assert "transformers cannot read it" in capsys.readouterr().err
