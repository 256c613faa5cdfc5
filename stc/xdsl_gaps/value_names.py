"""Names of values: xDSL numbers the second `%a` as `%a_1` even where another value is called that, and drops numbers behind `_`."""

from __future__ import annotations

import re

from xdsl.ir import SSAValue
from xdsl.printer import Printer


class UniqueNamesPrinter(Printer):
    """xDSL's printer, which gives no name twice."""

    def print_ssa_value(self, value: SSAValue) -> str:
        if (hint := value.name_hint) is not None and value not in self._ssa_values:
            index = self.ssa_names.get(hint, 0)
            while index > 0 and f"{hint}_{index}" in self.ssa_names:
                index += 1
            self.ssa_names[hint] = index
        name = super().print_ssa_value(value)
        self.ssa_names.setdefault(name, 1)
        return name


def value_hint(name: str) -> str:
    """A name as that of a value, whose number behind `_` is kept: `fc_1` becomes `fc1`."""
    return re.sub(r"(?<=[A-Za-z])_(\d+)$", r"\1", name)
