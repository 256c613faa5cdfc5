"""The programs of the pass tests, by name, for the tests of the executor."""

from __future__ import annotations

import sys
from pathlib import Path

TRANSFORMS = Path(__file__).parents[1] / "transforms"
sys.path[:0] = [str(TRANSFORMS / "stream"), str(TRANSFORMS / "linalg")]
