"""Algorithm 2: greedy fusion under C_max, by the converters between kernels alone.

Against our `stc.design_space.fusion.fuse_greedily`: FIFOs and the kernels' own buffers cost nothing, a kernel without predecessors
opens a group of its own, and groups that would fit together are not merged afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from stc.design_space.fusion import FusionEdge, FusionKernel


def published_fusion(kernels: Sequence[FusionKernel], edges: Sequence[FusionEdge], on_chip: int) -> list[list[str]]:
    """Groups of kernel names. `kernels` in topological order; `on_chip`: bytes of converters that a group may have (C_max).

    Each kernel joins the latest group among its predecessors' if the converters from it keep the group within `on_chip`, else
    it opens one.
    """
    groups: list[list[str]] = []
    cost: list[int] = []
    group_of: dict[str, int] = {}
    for kernel in kernels:
        incoming = [edge for edge in edges if edge.consumer == kernel.name]
        latest = max((group_of[edge.producer] for edge in incoming), default=None)
        added = sum(edge.converter_bytes for edge in incoming if group_of[edge.producer] == latest)
        if latest is None or cost[latest] + added > on_chip:
            groups.append([])
            cost.append(0)
            latest, added = len(groups) - 1, 0
        groups[latest].append(kernel.name)
        cost[latest] += added
        group_of[kernel.name] = latest
    return groups
