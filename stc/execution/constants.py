"""Constants: scalars and dense tensors, exactly."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DenseResourceAttr, FloatAttr, IntegerAttr, bf16
from xdsl.ir import Attribute

from stc.diagnostics import CompileError
from stc.execution.dtypes import numpy_type
from stc.scalars.bf16 import bits_of


def constant_value(attribute: Attribute) -> np.ndarray | np.generic:
    """The value of a constant's attribute; CompileError for kinds that hold no data here (dense_resource)."""
    if isinstance(attribute, FloatAttr) and attribute.type == bf16:
        return bits_of(np.float32(attribute.value.data))
    if isinstance(attribute, FloatAttr | IntegerAttr):
        return numpy_type(attribute.type).type(attribute.value.data)
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        if attribute.get_element_type() == bf16:
            return bits_of(np.array(attribute.get_values(), np.float32)).reshape(attribute.get_shape())
        values = np.array(attribute.get_values(), dtype=numpy_type(attribute.get_element_type()))
        return values.reshape(attribute.get_shape())
    if isinstance(attribute, DenseResourceAttr):
        raise CompileError("dense_resource constant cannot be executed", accepted="dense constants or arguments")
    raise CompileError(f"constant {attribute} cannot be executed", accepted="integers, floats and dense tensors")
