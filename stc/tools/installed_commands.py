"""Commands of `stc` that other installed packages bring: their entry points of the group `stc.commands`.

    [project.entry-points."stc.commands"]
    fuzz = "stc_testing.fuzzing.command:fuzz_command"
"""

from __future__ import annotations

from importlib.metadata import entry_points

import typer

from stc.extensions import import_entry

GROUP = "stc.commands"


def add_installed_commands(app: typer.Typer, name: str) -> None:
    """Add the command `name` to `app`, where it has none of that name: all installed ones where `name` is an option (`--help`).

    CompileError names the package whose command cannot be imported.
    """
    own = {command.name for command in app.registered_commands}
    if name in own:
        return
    for entry in entry_points(group=GROUP):
        if entry.name not in own and (entry.name == name or name.startswith("-")):
            app.command(entry.name)(import_entry(entry))
