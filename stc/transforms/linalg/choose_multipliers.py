"""`choose-multipliers`: contractions of integers multiply in pairs, in DSPs of their own, or in LUTs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.passes import ModulePass

from stc.analysis.generic_loops import generics_in, name_of
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.integer_products import integer_products, multipliers_of
from stc.analysis.operator_library import multiplies_in_luts
from stc.design_space.multipliers import Trial, choose_multipliers
from stc.design_space.parallelism import Serving, counts_of
from stc.design_space.parallelism_search import balanced_parallelism
from stc.dialects.facts import MULTIPLIERS, Multipliers
from stc.platforms.budget import SMALL, Counts, searched_limits
from stc.platforms.platform import load_platform
from stc.transforms.linalg.apply_schedule import MULTIPLIERS_FIELD, give_multipliers, read_tables
from stc.transforms.linalg.choose_parallelism import computations, port_counts
from stc.transforms.linalg.pack_products import WORTH_PACKING, PackProducts, packed_contraction
from stc.transforms.linalg.split_reductions import SplitReductions
from stc.transforms.linalg.split_slices import SplitSlices
from stc.transforms.linalg.transpose_operands import TransposeOperands


@dataclass(frozen=True)
class ChooseMultipliers(ModulePass):
    """Say what the multipliers of integer contractions are made of: two products per DSP ("pairs", for `pack-products`), a DSP for
    each ("dsp"), or LUTs ("lut").

    What a `schedule.toml` says (`multipliers` of the contraction, of its pairs, or of its first copy) holds. Of the others, with a
    budget, a search says (`stc.design_space.multipliers`): pairs where sums are long enough, else what the vendor's tool
    takes by itself (LUTs up to 8 by 9 bits, by the published reports), unless another kind makes the slowest computation faster
    within the DSPs and LUTs, or DSPs in place of LUTs free half a hundredth of these, where they are the scarcer of both, counted
    as `choose-parallelism` does. For each choice `split-slices`, `pack-products`, `transpose-operands` and `split-reductions` run
    on a copy of the module, of which the strategy `balanced` then says lanes, copies, and so the interval, with no more than that
    needs. Without a budget nothing is chosen: pairs of int4 are packed, and the vendor's tool decides about plain products.

    Options: `budget` (default small: nothing is chosen; `stc.platforms.budget`), `platform` (default u55c), `in-turn`, `shared`,
    `sums-in-turn`, `elements-per-port` and `layers` as of `choose-parallelism`, which will count so (contractions that share
    multipliers leave more DSPs), `schedule` (path of a `schedule.toml`).

        %p = arith.muli %a, %b : i32
      becomes, in LUTs,
        %p = arith.muli %a, %b {stc.multipliers = "lut"} : i32
    """

    name = "choose-multipliers"

    budget: str = SMALL
    platform: str = "u55c"
    in_turn: bool = False
    shared: bool = False
    sums_in_turn: bool = False
    elements_per_port: int = 1
    layers: int = 1
    schedule: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        generics = generics_in(op)
        host = {value for function in functions_of(op) for value in host_values(function)}
        if self.schedule:
            _give_said(generics, host, self.schedule)
        limits = searched_limits(self.budget, self.platform)
        if limits is None:
            return
        candidates = {
            index: kinds
            for index, generic in enumerate(generics)
            if not set(generic.results) <= host and multipliers_of(generic) is None and (kinds := _kinds(generic, host))
        }
        if not candidates:
            return

        def trial(choice: Mapping[int, Multipliers]) -> Trial:
            return self._trial(ctx, op, choice, limits)

        in_dsps = [index for index, kinds in candidates.items() if kinds[0] != "lut"]  # in pairs, they may share multipliers
        chosen = choose_multipliers(candidates, trial, limits.dsp, limits.lut, in_dsps)
        for index, kind in chosen.items():
            _make(generics[index], kind)

    def _trial(self, ctx: Context, module: ModuleOp, choice: Mapping[int, Multipliers], limits: Counts) -> Trial:
        """What `module` would be with this choice for its generics."""
        module = module.clone()
        generics = generics_in(module)
        for index, kind in choice.items():
            _make(generics[index], kind)
        platform = load_platform(self.platform)
        splits = (SplitSlices(self.budget, self.platform), SplitReductions(self.budget, self.platform))
        for one_pass in (splits[0], PackProducts(port_bits=platform.memory.word_bits), TransposeOperands(), splits[1]):
            one_pass.apply(ctx, module)
        interval, taken = 0, Counts()
        serving = Serving.of(self.elements_per_port, limits.ports, sums_in_turn=self.sums_in_turn) if self.shared else None
        for function in functions_of(module):
            found = computations(function, platform, in_turn=self.in_turn, serving=serving, layers=self.layers)
            works = [each.work for each in found]
            port = port_counts(platform)
            chosen = balanced_parallelism(works, limits, port, leaves_rest=True)
            taken = taken.plus(counts_of(works, chosen, port))
            interval = max([interval, *(work.cycles(chosen[work.name]) for work in works)])
        return Trial(interval, taken.dsp, taken.lut)


def _kinds(generic: GenericOp, parameters: set[Any]) -> tuple[Multipliers, ...]:
    """What the multipliers of `generic` can be made of, first what they are where nothing is said; none without products."""
    products = integer_products(generic)
    if not products:
        return ()
    packed = packed_contraction(generic, parameters)
    if packed is not None and packed.terms >= WORTH_PACKING:
        return ("pairs", "lut", "dsp")
    return ("lut", "dsp") if all(multiplies_in_luts(product) for product in products) else ("dsp", "lut")


def _make(generic: GenericOp, made_of: Multipliers) -> None:
    for product in integer_products(generic):
        MULTIPLIERS.put(product, made_of)


# What a schedule says -------------------------------------------------------------------------------------------------


def _give_said(generics: Collection[GenericOp], parameters: set[Any], schedule: str) -> None:
    tables, names = read_tables(schedule), {str(name_of(generic)) for generic in generics}
    for generic in generics:
        name = str(name_of(generic))
        said = _said(name, tables, names)
        if said is not None and integer_products(generic):  # `apply-schedule` refuses what is said of others
            table, made_of = said
            packed = packed_contraction(generic, parameters)
            give_multipliers(generic, made_of, f"{schedule} [{table}]", can_pair=packed is not None and packed.terms > 1)


def _said(name: str, tables: Mapping[str, Mapping[str, Any]], names: set[str]) -> tuple[str, Any] | None:
    """The table about the multipliers of op `name`, and what it says: its own, or one of what becomes of it by later passes."""
    later = {f"{name}_0": None, f"{name}_pairs": "pairs", f"{name}_pairs_0": "pairs"}
    for table, expected in {name: None, **later}.items():
        made_of = tables.get(table, {}).get(MULTIPLIERS_FIELD)
        if made_of is not None and (table == name or table not in names) and expected in (None, made_of):
            return table, made_of
    return None
