"""Where the time of a run goes: seconds by activity, and the table that `stc-opt --timing` prints."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Stopwatch:
    """Seconds of wall clock by activity, in the order in which activities began for the first time. They do not overlap.

    Names in parentheses are of what is done between passes: the table shows them after the passes.
    """

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    begin: float = field(default_factory=time.perf_counter)

    @contextmanager
    def measure(self, activity: str) -> Generator[None]:
        """Add the time of the `with` block, however it ends, to `activity`."""
        begin = time.perf_counter()
        self.seconds.setdefault(activity, 0.0)
        try:
            yield
        finally:
            self.seconds[activity] += time.perf_counter() - begin

    def table(self) -> str:
        """Seconds and share of each activity, of what was not measured ("(other)"), and the total since the watch was made."""
        total = time.perf_counter() - self.begin
        in_order = dict(sorted(self.seconds.items(), key=lambda row: row[0].startswith("(")))
        rows = {**in_order, "(other)": total - sum(self.seconds.values()), "total": total}
        lines = [f"{seconds:10.4f} {100 * seconds / total:7.1f} %  {activity}" for activity, seconds in rows.items()]
        return "\n".join([f"{'seconds':>10} {'share':>9}  pass", *lines]) + "\n"
