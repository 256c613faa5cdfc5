"""A search of one's own over everything that a model's schedule.toml decides: hill climbing on cycles times DSPs.

    python examples/own_search.py examples/linear_relu.mlir FOLDER

FOLDER must not exist; it gets the schedule.toml, for `stc compile MODEL --schedule FOLDER/schedule.toml --out ...`.
"""

import random
import sys
from pathlib import Path

import stc
from stc.exploration.problem import Point, Problem


def climbed(problem: Problem, steps: int, seed: int = 0) -> Point:
    drawn, best = random.Random(seed), problem.default()
    found = problem.evaluate(best)
    print(f"default: {found.cycles} cycles on {found.dsp} DSPs ({found.origin})")
    choices = [choice for choice in problem.space if choice.is_estimated]
    for _ in range(steps):
        choice = drawn.choice(choices)
        point = {**best, choice.name: drawn.choice(choice.values)}
        now = problem.evaluate(point)  # evaluate(point, simulate=True) compiles, builds and runs it
        if not now.beyond and now.cycles * now.dsp < found.cycles * found.dsp:
            best, found = point, now
            print(f"{choice.name} = {point[choice.name]}: {found.cycles} cycles on {found.dsp} DSPs")
    return best


if __name__ == "__main__":
    model, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir()
    problem = stc.explored_model(model, seq=5)
    for path, text in problem.schedules(climbed(problem, steps=60)).items():
        (folder / path).write_text(text)
