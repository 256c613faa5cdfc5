"""What the package offers: passes by name, each imported only when it is asked for."""

from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _raise_fifos() -> type[ModulePass]:
    from own_package.raise_fifos import RaiseFifos

    return RaiseFifos


UNIVERSE = Universe(all_passes={"raise-fifos": _raise_fifos})
