"""A pass of one's own, run within the compiler's pipeline: its effect on the design, and whether the design is still right.

    python examples/own_pass.py FOLDER

The pass gives every FIFO more room than the compiler would. A pass is a dataclass whose fields are its options; a stage takes
it ready to run, beside passes by name.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.codegen.project import emit_project
from stc.dialects.context import make_context
from stc.dialects.stream import CreateOp
from stc.frontend.sources import load_model
from stc.pipeline import PipelineOptions, Stage, run_stages, stages
from stc.simulation.csim import csim
from stc.transforms.stream.set_fifo_depths import set_depth


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
                set_depth(created, self.factor * created.result.type.depth)


def main(folder: Path) -> int:
    totals = []
    for name, factor in (("as compiled", 1), ("deepened", 2)):
        model = load_model(f"{Path(__file__).parent / 'linear_relu.mlir'}")
        options = PipelineOptions(tile=4, lanes=4, kernel_name="linear_relu")

        # The compiler's stages, with one more behind the stage that sets the depths.
        sequence = list(stages(options))
        place = next(index for index, stage in enumerate(sequence) if stage.name == "resource allocation")
        sequence.insert(place + 1, Stage("my stage", (DeepenFifos(factor=factor),)))
        run_stages(model.module, make_context(), sequence)

        out = folder / name.replace(" ", "_")
        emit_project(model.module, model, out, asdict(options), report={"model": model.name})
        result = csim(out, optimisation=0)
        totals.append(sum(channel.depth or 0 for channel in result.channels if channel.kind == "stream"))
        print(f"{name}: FIFOs of {totals[-1]} tokens, {'agrees' if result.passed else result.outcome}")
        if not result.passed:
            return 1
    return 0 if totals[1] == 2 * totals[0] else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/own_pass.py FOLDER")
    sys.exit(main(Path(sys.argv[1])))
