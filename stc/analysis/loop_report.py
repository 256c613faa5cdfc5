"""The section "loops" of report.json: every pipelined loop with its estimate, and what bounds those that are not at one cycle."""

from __future__ import annotations

from collections import Counter
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from stc.analysis.loop_estimates import loop_estimate
from stc.analysis.loops import loop_labels, most_trips, pipeline_ii
from stc.dialects.dataflow import TaskOp
from stc.platforms.platform import Platform


def loop_report(module: ModuleOp, platform: Platform) -> dict[str, Any]:
    """`list`: one entry per pipelined loop; `limited`: how many have an interval above 1, by the kind of what bounds it."""
    entries: list[dict[str, Any]] = []
    limited = Counter[str]()
    for task in [op for op in module.walk() if isinstance(op, TaskOp)]:
        for loop, label in loop_labels(task).items():
            ii = pipeline_ii(loop)
            if ii is None:
                continue
            estimate = loop_estimate(loop, task, platform.cycle_ns)
            limit = estimate.limit_at(ii)
            limited[limit.kind] += ii > 1
            entries.append({
                "task": task.sym_name.data, "loop": label, "trip": most_trips(loop), "ii": ii, "limit": limit.reason,
                "depth": estimate.depth, "chain": estimate.chain_text, "operators": estimate.origin,
            })
    return {
        "origin": "estimated: the longest chain of an iteration, with the operators' published or assumed stages",
        "clock_ns": platform.cycle_ns,
        "limited": {kind: count for kind, count in limited.items() if count},
        "list": entries,
    }
