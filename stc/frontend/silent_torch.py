"""What PyTorch tells its own developers is not for whoever compiles a model."""

from __future__ import annotations

import io
import logging
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr


@contextmanager
def silent_torch() -> Generator[None]:
    """Meanwhile its loggers and the standard error are silent. What torch.export reports there its exception says again."""
    loggers = [logging.getLogger(name) for name in tuple(logging.root.manager.loggerDict) if name.split(".")[0] == "torch"]
    saved = [(logger, logger.disabled) for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        for logger, was in saved:
            logger.disabled = was
