"""The styles of a pipelined loop."""

from typing import Literal

Style = Literal["stp", "frp", "flp"]
"""Pipelines that stop as a whole while an access waits, and two that go on with what is in them."""

STYLES: dict[str, Style] = {"stp": "stp", "frp": "frp", "flp": "flp"}
