"""Compiled and simulated projects, each built once per session: building is where the time goes."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from projects import Compile, Project

from stc.pipeline import PipelineOptions
from stc.simulation.csim import csim
from stc.tools.compile import CompileRequest, compile_model


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """`compiled(model, seq, optimisation, **pipeline_options)`: the project, built and simulated; equal requests share one."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    folder = tmp_path_factory.mktemp("end_to_end")
    made: dict[object, Project] = {}

    def make(model: str, seq: int = 8, optimisation: int = 0, **options: Any) -> Project:
        key = (model, seq, optimisation, *sorted(options.items()))
        if key not in made:
            out = folder / str(len(made))
            report = compile_model(CompileRequest(model, seq=seq, options=PipelineOptions(**options)), out)
            made[key] = Project(out, report, csim(out, optimisation=optimisation))
        return made[key]

    return make
