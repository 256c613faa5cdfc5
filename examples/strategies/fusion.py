"""Fusion of pairs: a kernel joins the group of its only producer, if that has no other kernel yet.

    stc compile examples/linear_relu.mlir --load examples/strategies/fusion.py --fusion pairs --out FOLDER
"""

from stc.strategies.fusion import FUSION, FusionProblem, Groups


@FUSION.strategy("pairs")
def pairs(problem: FusionProblem) -> Groups:
    groups: list[list[str]] = []
    for kernel in problem.kernels:
        producers = {edge.producer for edge in problem.edges if edge.consumer == kernel.name}
        home = next((group for group in groups if len(group) == 1 and producers == {group[0]}), None)
        if home is not None and problem.bytes_of([*home, kernel.name]) <= problem.on_chip:
            home.append(kernel.name)
        else:
            groups.append([kernel.name])
    return groups
