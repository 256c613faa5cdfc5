"""Entry points of `stc` and `stc-opt`: to be interrupted is one line and exit code 130, also while libraries are being read.

Nothing of ours, and as little as possible of Python's, is imported before the signal has its handler.
"""

import os
import signal
from importlib import import_module

INTERRUPTED = 130


def stc() -> None:
    _run("stc", "stc.tools.stc")


def stc_opt() -> None:
    _run("stc-opt", "stc.tools.stc_opt")


def _run(program: str, module: str) -> None:
    def leave(*_: object) -> None:
        # At once: libraries turn a KeyboardInterrupt in the middle of their initialisation into whatever they like.
        os.write(2, f"{program}: interrupted\n".encode())
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, leave)
    main = import_module(module).main
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        leave()
