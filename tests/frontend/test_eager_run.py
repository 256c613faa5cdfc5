"""What the reference run refuses: state that the module keeps, wherever Python keeps it, and tensors without values."""

# What stands for users' modules has no types, as theirs have none.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false
# pyright: reportPrivateUsage=false, reportConstantRedefinition=false

from __future__ import annotations

import functools
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from stc.diagnostics import CompileError
from stc.execution.run import execute
from stc.frontend.export import export
from stc.frontend.python_state import changed_state, python_state

pytestmark = pytest.mark.heavy

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
        self.twice: list[object] = []
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


@dataclass(slots=True)
class Slots:
    mean: float | None = None


class Base:
    __slots__ = ("__mean",)

    def of(self, x):
        if not hasattr(self, "_Base__mean"):
            self.__mean = float(x.mean())
        return self.__mean


class Derived(Base):
    __slots__ = ()


class AlwaysEqual:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


FIRST: dict[str, float] = {}
SLOTS, DERIVED = Slots(), Derived()
SETTINGS = ModuleType("settings_of_the_user")
SETTINGS.__file__ = f"{Path(torch.__file__).parents[1]}_of_the_user/settings_of_the_user.py"  # not in the libraries' folder


class InANotebook:
    __module__ = "notebook_without_a_file"
    mean: ClassVar[float | None] = None


recall, remember = FIRST.get, FIRST.update


def kept_in(store, x):
    if "mean" not in store:
        store["mean"] = float(x.mean())
    return store["mean"]


def first(x):
    return kept_in(FIRST, x)


def in_slots(self, x):
    if SLOTS.mean is None:
        SLOTS.mean = float(x.mean())
    return x * SLOTS.mean


def in_slots_of_a_base(self, x):
    return x * DERIVED.of(x)


def in_a_default(self, x, kept={}):  # noqa: B006
    return x * kept_in(kept, x)


def in_a_keyword_default(self, x, *, kept={}):  # noqa: B006
    return x * kept_in(kept, x)


def on_a_function(self, x):
    if not hasattr(first, "mean"):
        first.mean = float(x.mean())  # pyright: ignore[reportFunctionMemberAccess]
    return x * first.mean  # pyright: ignore[reportFunctionMemberAccess]


class Descriptors:
    x = torch.zeros(1)

    @staticmethod
    def static(x):
        return first(x)

    @classmethod
    def of_the_class(cls, x):
        return first(x)

    @property
    def read(self):
        return first(self.x)

    @functools.cached_property
    def read_once(self):
        return first(self.x)

    def __call__(self, x):
        return first(x)


class Inherits(Descriptors):
    pass


def in_a_static_method(self, x):
    return x * Descriptors.static(x)


def in_an_inherited_class_method(self, x):
    return x * Inherits.of_the_class(x)


def in_a_property(self, x):
    return x * Descriptors().read


def in_a_cached_property(self, x):
    return x * Descriptors().read_once


def in_a_call(self, x):
    return x * Descriptors()(x)


@torch.inference_mode(False)
@torch.no_grad()
def under_decorators(self, x):
    return x * first(x)


def in_a_module(self, x):
    if not hasattr(SETTINGS, "mean"):
        SETTINGS.mean = float(x.mean())  # pyright: ignore[reportAttributeAccessIssue]
    return x * SETTINGS.mean


def in_an_imported_module(self, x):
    import settings_of_the_user as settings  # pyright: ignore[reportMissingImports]

    if not hasattr(settings, "mean"):
        settings.mean = float(x.mean())
    return x * settings.mean


def by_a_string(self, x):
    if getattr(SETTINGS, "mean", None) is None:
        setattr(SETTINGS, "mean", float(x.mean()))  # noqa: B010
    return x * getattr(SETTINGS, "mean")  # noqa: B009


def in_a_lambda(self, x):
    return (lambda y: y * kept_in(FIRST, y))(x)


def in_a_comprehension(self, x):
    return sum(y * kept_in(FIRST, x) for y in (x, x))


def by_a_bound_method(self, x):
    if recall("mean") is None:
        remember(mean=float(x.mean()))
    return x * recall("mean")


@functools.lru_cache
def only_once(x):
    return float(x.value.mean())


def in_an_lru_cache(self, x):
    return x * only_once(AlwaysEqual(x))


@functools.lru_cache
def one():
    return 1


one()


def on_a_cached_function(self, x):
    if "mean" not in vars(one):
        one.mean = float(x.mean())  # pyright: ignore[reportAttributeAccessIssue]
    return x * vars(one)["mean"] * one()


def of_a_class_without_a_file(self, x):
    if InANotebook.mean is None:
        InANotebook.mean = float(x.mean())
    return x * InANotebook.mean


def in_a_hook(self, x):
    return self.hooked(x)


def by_a_hook(module, arguments, result):
    return result * first(result)


@pytest.mark.parametrize(
    ("forward", "name"),
    [
        (in_slots, "global SLOTS.mean"),
        (in_slots_of_a_base, "global DERIVED._Base__mean"),
        (in_a_default, "in_a_default.kept"),
        (in_a_keyword_default, "in_a_keyword_default.kept"),
        (on_a_function, "first.mean"),
        (in_a_static_method, "global FIRST"),
        (in_an_inherited_class_method, "global FIRST"),
        (in_a_property, "global FIRST"),
        (in_a_cached_property, "global FIRST"),
        (in_a_call, "global FIRST"),
        (under_decorators, "global FIRST"),
        (in_a_module, "global SETTINGS.mean"),
        (in_an_imported_module, "global settings_of_the_user.mean"),
        (by_a_string, "global SETTINGS.mean"),
        (in_a_lambda, "global FIRST"),
        (in_a_comprehension, "global FIRST"),
        (by_a_bound_method, "global recall.__self__"),
        (in_an_lru_cache, "global only_once"),
        (on_a_cached_function, "global one.__dict__"),
        (of_a_class_without_a_file, "InANotebook.mean"),
        (in_a_hook, "global FIRST"),
    ],
)
def test_what_only_the_first_call_computes_is_found_wherever_it_is_kept(forward, name: str, monkeypatch) -> None:
    """All of these give the same results from the second run on: only the state shows that a constant is baked in."""
    monkeypatch.setitem(sys.modules, SETTINGS.__name__, SETTINGS)
    FIRST.clear()
    only_once.cache_clear()
    vars(SETTINGS).pop("mean", None)
    module = Stateful(forward)
    if forward is in_a_hook:
        module.hooked = nn.Linear(5, 5)
        module.hooked.register_forward_hook(by_a_hook)
    with pytest.raises(CompileError) as refusal:
        export(module, [torch.randn(3, 5)], name="model")
    assert str(refusal.value).startswith(f"model: the module changes {name}; accepted: a module that leaves its inputs")


def test_caches_that_were_filled_before_and_hooks_that_keep_nothing_are_accepted() -> None:
    """Hits of an `lru_cache` are no change, nor are attributes of functions and modules that are only read."""
    module = Stateful(lambda self, x: self.inner(x) * only_once(AlwaysEqual(x)))

    def raised(module: nn.Module, arguments: tuple[torch.Tensor], result: torch.Tensor) -> torch.Tensor:
        return result + 1

    module.inner.register_forward_hook(raised)
    module.inner.register_forward_pre_hook(lambda module, arguments: (arguments[0] * 2,))
    module(torch.randn(3, 5))
    assert changed_state(python_state(module), python_state(module)) is None
    before = python_state(module)
    module(torch.randn(3, 5))
    assert changed_state(before, python_state(module)) is None


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
    twice: list[object] = [module.tensor, float("nan")]
    module.twice = twice
    before = python_state(module)
    module.tensor = twice[0] = torch.zeros(3, 5)
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


def test_outputs_whose_keys_are_one_text() -> None:
    class Keys(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> dict[object, torch.Tensor]:
            return {1: x + 1, "1": x * 2}

    with pytest.raises(CompileError, match="two outputs are called '1'; accepted: keys that differ as text"):
        export(Keys(), (torch.ones(3),))
