"""`choose-multipliers`: contractions of integers multiply in DSPs, or in LUTs."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.passes import ModulePass

from stc.analysis.generic_loops import generics_in, name_of
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.integer_products import integer_products, multipliers_of
from stc.analysis.operator_library import hardware_cost
from stc.design_space.multipliers import Trial, multipliers_in_luts
from stc.design_space.parallelism import choose_parallelism
from stc.dialects.facts import MULTIPLIERS, Multipliers
from stc.platforms.platform import Platform, platform_with_dsp
from stc.transforms.linalg.apply_schedule import MULTIPLIERS_FIELD, give_multipliers, read_tables
from stc.transforms.linalg.choose_parallelism import computations
from stc.transforms.linalg.pack_products import PackProducts
from stc.transforms.linalg.split_reductions import SplitReductions
from stc.transforms.linalg.transpose_operands import TransposeOperands


@dataclass(frozen=True)
class ChooseMultipliers(ModulePass):
    """Say what the multipliers of integer contractions are made of, before `pack-products` packs those of DSPs.

    What a `schedule.toml` says (`multipliers = "dsp"` or `"lut"`) holds. Of the others, with a number of DSPs, those go to LUTs
    that leave DSPs to what is slowest (`stc.design_space.multipliers`), as long as what is computed with takes no more LUTs than a
    plan may (`plan` of the platform; memory ports, FIFOs and control are not counted). For each choice `pack-products`,
    `transpose-operands` and `split-reductions` run on a copy of the module, of which the strategy `balanced` then says lanes,
    copies, and so the interval. Without a number of DSPs nothing is chosen: pairs of int4 take DSPs, and the vendor's tool decides
    about plain products (LUTs up to 8 by 9 bits, by the published reports).

    Options: `dsp` (default 0: nothing is chosen), `platform` (default u55c), `schedule` (path of a `schedule.toml`).

        %p = arith.muli %a, %b : i32
      becomes, in LUTs,
        %p = arith.muli %a, %b {stc.multipliers = "lut"} : i32
    """

    name = "choose-multipliers"

    dsp: int = 0
    platform: str = "u55c"
    schedule: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        generics = generics_in(op)
        tables = read_tables(self.schedule) if self.schedule else {}
        for generic in generics:
            table = tables.get(str(name_of(generic)), {})
            if MULTIPLIERS_FIELD in table and integer_products(generic):  # `apply-schedule` refuses what is said of others
                give_multipliers(generic, table[MULTIPLIERS_FIELD], f"{self.schedule} [{name_of(generic)}]")
        platform = platform_with_dsp(self.platform, self.dsp, self.name)
        if platform is None:
            return
        host = {value for function in functions_of(op) for value in host_values(function)}
        undecided = [
            index
            for index, generic in enumerate(generics)
            if not set(generic.results) <= host and integer_products(generic) and multipliers_of(generic) is None
        ]

        def trial(in_luts: frozenset[int]) -> Trial:
            return self._trial(ctx, op, in_luts, platform)

        for index in multipliers_in_luts(undecided, trial, platform.usable.lut) if undecided else ():
            _make(generics[index], "lut")

    def _trial(self, ctx: Context, module: ModuleOp, in_luts: frozenset[int], platform: Platform) -> Trial:
        """What `module` would be with the multipliers of generics `in_luts` made of LUTs."""
        module = module.clone()
        generics = generics_in(module)
        for index in in_luts:
            _make(generics[index], "lut")
        for one_pass in (PackProducts(), TransposeOperands(), SplitReductions(dsp=self.dsp, platform=self.platform)):
            one_pass.apply(ctx, module)
        interval, lut = 0, 0
        for function in functions_of(module):
            computed = computations(function, platform)
            chosen = choose_parallelism([each.work for each in computed], self.dsp, platform.memory.max_ports)
            for each in computed:
                parallelism = chosen[each.work.name]
                one = sum(hardware_cost(op, platform.cycle_ns).lut for op in each.generic.body.block.ops)
                lut += one * parallelism.lanes * parallelism.copies
                interval = max(interval, each.work.cycles(parallelism))
        return Trial(interval, lut)


def _make(generic: GenericOp, made_of: Multipliers) -> None:
    for product in integer_products(generic):
        MULTIPLIERS.put(product, made_of)
