"""lit configuration: `lit filecheck_tests`. Tools are those of the environment that runs lit, of whatever checkout."""

import os
import sys
import sysconfig

import lit.formats

checkout = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir))
sys.path[:0] = [checkout, os.path.dirname(__file__)]
import forking  # noqa: E402

forking.install()

config.name = "stc"  # noqa: F821  # lit provides it
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
config.test_exec_root = os.path.join(os.path.dirname(__file__), os.pardir, "build", "lit")  # noqa: F821

tools = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
config.environment["PATH"] = os.pathsep.join([*tools, os.environ.get("PATH", "")])  # noqa: F821
# The checkout comes first, so that the tests exercise the sources beside them even where another checkout is installed.
config.environment["PYTHONPATH"] = os.pathsep.join([checkout, os.environ.get("PYTHONPATH", "")])  # noqa: F821
for variable in ("HOME", "TMPDIR"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]  # noqa: F821
