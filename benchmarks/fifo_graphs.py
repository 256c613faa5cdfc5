"""Random graphs with fan-out and reconvergence: FIFO depths that suffice, none of which can be one less.

    python benchmarks/fifo_graphs.py --count 300 --jobs 2 --json graphs.json

Each is a random program of `stc fuzz`, compiled, built with time, sized and trimmed by `stc size`'s search; see
stc/tools/fuzzing/graphs.py for what is checked. Exit code 1 if anything is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from stc.tools.fuzzing.graphs import SIZED, GraphCampaign, GraphCheck, as_json, check_graphs, summary


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="graphs with reconvergent paths")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--batch", type=int, default=10, help="programs built as one")
    parser.add_argument("--json", type=Path, help="write every graph to this file")
    options = parser.parse_args()
    begin = time.perf_counter()
    found: list[GraphCheck] = []

    def heard(check: GraphCheck) -> None:
        found.append(check)
        sized = sum(entry.verdict == SIZED for entry in found)
        for failure in check.failures:
            print(f"seed {check.seed}: {failure}", file=sys.stderr)
        if options.json:
            options.json.write_text(json.dumps(as_json(found), indent=1) + "\n")
        print(f"\r{sized} of {options.count} graphs, {time.perf_counter() - begin:.0f} s", end="", file=sys.stderr, flush=True)

    checks = check_graphs(GraphCampaign(options.count, options.seed, options.jobs, options.batch), heard)
    print(file=sys.stderr)
    print(json.dumps(summary(checks), indent=2))
    return 1 if any(check.failures for check in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
