"""Python's own start reads this file in every process that `make check` starts: there, importing torch is an error.

Not an ImportError, which somebody might expect.
"""

import sys

LIBRARIES = ("torch", "torch_mlir", "transformers")


class Refusal:
    """First of the finders of modules."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in LIBRARIES:
            raise AssertionError(f"{name} is imported, which `make check` has no time for: mark the test `heavy`")


sys.meta_path.insert(0, Refusal)  # pyright: ignore[reportArgumentType]
