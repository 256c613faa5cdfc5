"""Tests on XRT's own runtime, where Debian's packages are installed."""

from __future__ import annotations

import os

import pytest

from stc.diagnostics import CompileError
from stc.runtime.xrt.device import vendor_driver


def require_xrt() -> None:
    """Skip a test where XRT is missing; in CI it fails."""
    try:
        vendor_driver()
    except CompileError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{error}: .ci/packages must install it")
        pytest.skip(str(error))
