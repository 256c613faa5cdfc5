"""What an own kernel declares of its loops is compared with its file before anything is emitted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stc_testing.commands import Ended, Stc

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "filecheck_tests" / "transforms" / "stream" / "own_kernel.mlir").read_text()


@pytest.fixture
def emitted_of(stc_opt: Stc, tmp_path: Path) -> Callable[[str], Ended]:
    def emit(text: str) -> Ended:
        (tmp_path / "own_kernel.mlir").write_text(text)
        return stc_opt(tmp_path / "own_kernel.mlir", "--from", "dataflow-optimisation", "-t", "hls-cpp")

    return emit


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ii = 1", "ii = 2", "loop tokens with II 2, which its file does not have; accepted: the file's: tokens (II 1)"),
        ('own_loop<"tokens"', 'own_loop<"entries"', "declares a pipelined loop entries with II 1, which its file does not have"),
        ("#pragma HLS pipeline II=1 style=stp", "", "accepted: the file's: none"),
        ("void twice(", "#include <mine.h>\\0Avoid twice(", "twice.cpp:1: includes 'mine.h'"),
        ("out.write(token);\\0A  }", "out.write(token);", "twice.cpp:1: '{' is never closed"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(emitted_of: Callable[[str], Ended], old: str, new: str, message: str) -> None:
    assert old in TEXT
    done = emitted_of(TEXT.replace(old, new))
    assert done.code == 2 and not done.stdout
    assert message in " ".join(done.stderr.split())


def test_the_file_as_it_is_is_emitted(emitted_of: Callable[[str], Ended]) -> None:
    assert emitted_of(TEXT).code == 0
