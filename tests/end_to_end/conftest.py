"""Compiled and simulated projects, each made once, whichever workers ask for it: that is where the time goes."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from typing import Any

import pytest
from projects import Compile, Project

from stc.tools.compile import CompileRequest, compile_model
from stc_testing.small import small_options


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """`compiled(model, seq, optimisation, **pipeline_options)`: the project; equal requests share one, so leave it as it is."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "compiled"
    folder.mkdir(exist_ok=True)
    made: dict[str, Project] = {}

    def make(model: str, seq: int = 8, optimisation: int = 0, **options: Any) -> Project:
        key = hashlib.sha256(repr((model, seq, sorted(options.items()))).encode()).hexdigest()[:16]
        if key not in made:
            out = folder / key
            with out.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not (out / "report.json").exists():
                    compile_model(CompileRequest(model, seq=seq, options=small_options(**options)), out)
            made[key] = Project(out, json.loads((out / "report.json").read_text()), optimisation)
        return made[key]

    return make
