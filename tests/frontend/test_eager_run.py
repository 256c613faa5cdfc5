"""What the reference run refuses: state that the module keeps, wherever Python keeps it, and tensors without values."""

from __future__ import annotations

import os
import random
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from stc.diagnostics import CompileError
from stc.execution.run import execute
from stc.frontend.export import export
from stc.frontend.python_state import changed_state, python_state

CALLS = 0


class Stateful(nn.Module):
    calls = 0
    kept: ClassVar[list[torch.Tensor]] = []

    def __init__(self, forward):
        super().__init__()
        self.inner = nn.Linear(5, 5)
        self.mean = None
        self.count = 0
        self.list: list[int] = []
        self.dictionary: dict[str, int] = {}
        self.object = SimpleNamespace(value=1)
        self.array = np.zeros(3)
        self.tensor = torch.zeros(3, 5)
        self.steps = forward

    def forward(self, x):
        return self.steps(self, x)


def cached(self, x):
    if self.mean is None:
        self.mean = x.mean()
    return x - self.mean


def counted(self, x):
    self.count += 1
    return x * self.count


def listed(self, x):
    self.list.append(1)
    return x * len(self.list)


def keyed(self, x):
    self.dictionary["calls"] = self.dictionary.get("calls", 0) + 1
    return x * self.dictionary["calls"]


def of_a_submodule(self, x):
    self.inner.last = x.sum()
    return self.inner(x)


def of_an_object(self, x):
    self.object.value += 1
    return x * self.object.value


def of_an_array(self, x):
    self.array += 1
    return x * float(self.array[0])


def of_a_tensor(self, x):
    self.tensor += x
    return self.tensor * 2


def under_the_version_counter(self, x):
    self.inner.weight.data.mul_(1.5)
    return self.inner(x)


def of_the_class(self, x):
    Stateful.calls += 1
    return x * Stateful.calls


def in_a_list_of_the_class(self, x):
    Stateful.kept.append(x)
    return x * len(Stateful.kept)


def in_a_global(self, x):
    global CALLS
    CALLS += 1
    return x * CALLS


def closing_over():
    calls = 0

    def counted_outside(self, x):
        nonlocal calls
        calls += 1
        return x * calls

    return counted_outside


@pytest.mark.parametrize(
    ("forward", "name"),
    [
        (cached, "mean"),
        (counted, "count"),
        (listed, "list"),
        (keyed, "dictionary"),
        (of_a_submodule, "inner.last"),
        (of_an_object, "object.value"),
        (of_an_array, "array"),
        (of_a_tensor, "tensor"),
        (under_the_version_counter, "inner.weight"),
        (of_the_class, "Stateful.calls"),
        (in_a_list_of_the_class, "Stateful.kept"),
        (in_a_global, "global CALLS"),
        (closing_over(), "closing_over.<locals>.counted_outside.calls"),
    ],
)
def test_state_that_forward_changes_is_refused_by_name(forward, name: str) -> None:
    with pytest.raises(CompileError) as refusal:
        export(Stateful(forward), [torch.randn(3, 5)], name="model")
    assert str(refusal.value).startswith(f"model: the module changes {name}; accepted: a module that leaves its inputs")


def test_what_cannot_be_seen_shows_in_a_second_run() -> None:
    numbers = iter(range(1, 100))
    for forward in (lambda _, x: x * next(numbers), lambda _, x: x * random.random()):
        with pytest.raises(CompileError, match="model: the module gives another out when it is run again on the same inputs"):
            export(Stateful(forward), [torch.randn(3, 5)], name="model")


def test_state_that_ends_as_it_began_is_none() -> None:
    """Attributes set and deleted, and torch's old weight_norm, which sets the weight anew at each call."""

    def scratch(self, x):
        self.scratch = x
        del self.scratch
        return x * 2

    for module in (Stateful(scratch), torch.nn.utils.weight_norm(nn.Linear(5, 5))):
        assert export(module, [torch.randn(3, 5)]).golden


def test_state_is_compared_by_value() -> None:
    module = Stateful(cached)
    module.twice = [module.tensor, float("nan")]
    before = python_state(module)
    module.tensor = module.twice[0] = torch.zeros(3, 5)
    assert changed_state(before, python_state(module)) is None
    module.tensor[1, 2] = 1e-30
    assert changed_state(before, python_state(module)) == "tensor"


class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 5))

    def forward(self, x, y, *, z=None):
        return x + 2 * y + (4 * self.weight if z is None else 4 * z)


def test_one_tensor_given_twice_is_two_inputs() -> None:
    module, t = Sum(), torch.randn(3, 5)
    x, y = (np.random.default_rng(seed).standard_normal((3, 5)).astype(np.float32) for seed in (0, 1))
    for first, second in ((t, t), (t, t.view(3, 5)), (module.weight, module.weight)):
        model = export(module, [first, second])
        weight = model.parameters["weight"]
        assert model.input_names == ("x", "y")
        np.testing.assert_allclose(execute(model.module, [x, y, weight])[0], x + 2 * y + 4 * weight, rtol=1e-6)
    model = export(module, {"x": t, "y": t, "z": t})
    np.testing.assert_allclose(execute(model.module, [x, y, weight, weight])[0], x + 2 * y + 4 * weight, rtol=1e-6)


def test_attention_of_one_tensor_has_three_inputs() -> None:
    module, t = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 5, 8)
    model = export(module, [t, t, t])
    others = [torch.randn(1, 5, 8) for _ in range(3)]
    with torch.no_grad():
        expected = module(*others)[0].numpy()
    arrays = [*(other.numpy() for other in others), *model.parameters.values()]
    assert model.input_names == ("query", "key", "value")
    np.testing.assert_allclose(execute(model.module, arrays)[0], expected, rtol=1e-5, atol=1e-6)


class Plus(nn.Module):
    def forward(self, x):
        return x + 1


def _named(key: str) -> nn.Module:
    module = nn.ModuleDict({key: nn.Linear(4, 4)})
    module.forward = lambda x: module[key](x)  # type: ignore[method-assign]
    return module


def _on_meta() -> nn.Module:
    with torch.device("meta"):
        return nn.Linear(4, 3)


@pytest.mark.parametrize(
    ("module", "tensor", "message"),
    [
        (torch.jit.script(nn.Linear(4, 3)), torch.ones(2, 4), "a TorchScript module; accepted: modules whose forward is Python"),
        (nn.LazyLinear(3), torch.ones(2, 4), "weight is not initialised (of a lazy module); accepted: a module that has run once"),
        (_on_meta(), torch.ones(2, 4), "weight has no values (a meta or fake tensor); accepted: tensors with values"),
        (Plus(), torch.ones(2, 4, device="meta"), "input x has no values (a meta or fake tensor); accepted: tensors with values"),
        (Plus(), torch.ones(2, 4).to_sparse(), "input x is no dense tensor (torch.sparse_coo); accepted: dense tensors"),
        (_named("a\nb"), torch.ones(2, 4), "a parameter or buffer is called 'a\\nb.weight'; accepted: names without quotation"),
        (_named('a"b'), torch.ones(2, 4), "a parameter or buffer is called 'a\"b.weight'; accepted: names without quotation"),
    ],
)
def test_refused_tensors(module: nn.Module, tensor: torch.Tensor, message: str) -> None:
    with pytest.raises(CompileError) as refusal:
        export(module, [tensor], name="model", input_names=["x"])
    assert str(refusal.value).startswith(f"model: {message}")


@pytest.mark.parametrize("ending", ["_exit", "abort"])
def test_a_module_that_ends_the_process(ending: str) -> None:
    with pytest.raises(CompileError, match=rf"SystemExit: os\.{ending} ends the process"):
        export(Stateful(lambda *_: getattr(os, ending)(*[0] * (ending == "_exit"))), [torch.ones(3, 5)])
    child = os.fork()
    if child == 0:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7, "and afterwards os is as before"
