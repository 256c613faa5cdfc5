"""A pass of one's own, run within the compiler's pipeline: its effect on the design, and whether the design is still right.

    python examples/own_pass.py FOLDER

The pass doubles the depth of every FIFO. A pass is a dataclass whose fields are its options; registered, it can be named in a
stage like any other, and `stc-opt -p` would find it too.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import stc.pipeline
from stc.codegen.project import emit_project
from stc.dialects.context import make_context
from stc.dialects.stream import CreateOp, StreamType
from stc.frontend.sources import load_model
from stc.pipeline import PipelineOptions, Stage, run_stages, stages
from stc.simulation.csim import csim
from stc.transforms import all_passes


@dataclass(frozen=True)
class DeepenFifos(ModulePass):
    """Multiply the depth of every FIFO.

    Options: `factor`.

        %s = stream.create @s : !stream.stream<f32, depth: 2>
      with factor=2 becomes
        %s = stream.create @s : !stream.stream<f32, depth: 4>
    """

    name = "deepen-fifos"

    factor: int = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for created in op.walk():
            if isinstance(created, CreateOp):
                DEEPEN


def main(folder: Path) -> int:
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/own_pass.py FOLDER")
    sys.exit(main(Path(sys.argv[1])))
