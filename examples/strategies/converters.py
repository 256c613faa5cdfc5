"""Converters that always hand whole blocks over, two where ping-pong takes no more than the tensor: no line buffers.

    stc compile examples/linear_relu.mlir --load examples/strategies/converters.py --converters ping-pong --out FOLDER
"""

from stc.iteration.converter import infer_converter
from stc.strategies.converters import CONVERTERS, ConverterPlans, ConverterProblem


@CONVERTERS.strategy("ping-pong")
def ping_pong(problem: ConverterProblem) -> ConverterPlans:
    return {found.name: infer_converter(found.source, found.target) for found in problem.conversions}
