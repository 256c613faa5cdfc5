"""All reductions, those first that remove most."""

from __future__ import annotations

from stc_testing.reduction.attributes import DROP_ATTRIBUTES, DROP_MARKS
from stc_testing.reduction.bypass_operations import BYPASS_BY_FIRST, BYPASS_BY_LAST
from stc_testing.reduction.cut_operations import CUT_OPERATIONS
from stc_testing.reduction.cut_stream_tasks import CUT_STREAM_ENDS, CUT_STREAM_TASKS
from stc_testing.reduction.cut_tasks import CUT_TASKS
from stc_testing.reduction.engine import Reduction
from stc_testing.reduction.generic_inputs import DROP_GENERIC_INPUTS
from stc_testing.reduction.kernel_boundaries import DROP_KERNEL_OPERANDS, DROP_KERNEL_RESULTS
from stc_testing.reduction.loops import REDUCE_LOOPS
from stc_testing.reduction.shrink_extents import SHRINK_EXTENTS
from stc_testing.reduction.signature_reductions import DROP_ARGUMENTS, DROP_RESULTS
from stc_testing.reduction.task_ports import DROP_TASK_PORTS
from stc_testing.reduction.tiles import TRIVIAL_SCHEDULES
from stc_testing.reduction.unit_loops import REMOVE_UNIT_LOOPS
from stc_testing.reduction.unused_operations import ERASE_EFFECTS, ERASE_UNUSED

_CUTS = (CUT_OPERATIONS, DROP_RESULTS, DROP_KERNEL_RESULTS, CUT_TASKS, CUT_STREAM_TASKS, CUT_STREAM_ENDS, DROP_RESULTS)
_SWEEP = (ERASE_UNUSED, DROP_KERNEL_RESULTS, DROP_TASK_PORTS, ERASE_UNUSED, DROP_KERNEL_OPERANDS, ERASE_UNUSED, DROP_ARGUMENTS)
"""What nobody needs any more."""
_SHRINK = (BYPASS_BY_FIRST, BYPASS_BY_LAST, DROP_GENERIC_INPUTS, *_SWEEP, *REDUCE_LOOPS, *SHRINK_EXTENTS, REMOVE_UNIT_LOOPS)

ALL_REDUCTIONS: tuple[Reduction, ...] = (
    *_CUTS,
    *_SWEEP,
    *_SHRINK,
    *TRIVIAL_SCHEDULES,
    ERASE_EFFECTS,
    *_SWEEP,
    DROP_ATTRIBUTES,
    DROP_MARKS,
)
