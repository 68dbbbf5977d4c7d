"""Layout of ``--help``: command groups, paragraphs that wrap, and literal brackets."""

import re
from typing import Any

import typer
from typer.core import TyperCommand

START = "Start a repository"
ADOPT = "Start from what runs in a cluster"
CHECK, DEPLOY = "Check manifests, without a cluster", "Deploy a stack"
CAPACITY, FLEET = "Size models and autoscalers", "Run the live fleet on this machine"
_TAG = re.compile(r"\[(?=[a-z#/@][^\[]*?\])")
_GROUPS = {
    START: ("init",),
    ADOPT: ("inspect", "adopt", "eject"),
    CHECK: ("plan", "validate", "explain", "render", "defaults", "crds", "schema", "migrate"),
    DEPLOY: ("up", "preview", "destroy", "outputs", "diff", "capacity", "cluster"),
    CAPACITY: ("fit", "size", "simulate", "fit-profile"),
    FLEET: ("load", "watch", "fault", "speed"),
}


_OVERRIDES = (
    "realization",
    "release",
    "workload",
    "namespace",
    "runtimes",
    "cache_claim",
    "cache_host_path",
    "other_kinds",
)
"""Options of every command on manifests that override settings; only the help of ``validate`` lists them."""
_DOCUMENTING_COMMAND = "validate"


class PlainHelpCommand(TyperCommand):
    """A command whose help is plain text: typer reads brackets as markup, and keeps line breaks of docstrings."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401  as typer calls it
        super().__init__(*args, **options)
        self.help = _unwrapped(self.help)
        self.short_help = _unwrapped(self.short_help)
        for param in self.params:
            text = getattr(param, "help", None)
            if text:
                param.help = _escaped(text)  # type: ignore[attr-defined]
        overrides = [param for param in self.params if param.name in _OVERRIDES]
        if len(overrides) == len(_OVERRIDES) and self.name != _DOCUMENTING_COMMAND:
            for param in overrides:
                param.hidden = True  # type: ignore[attr-defined]
            names = ", ".join(param.opts[0] for param in overrides)
            self.epilog = f"Options that override settings: {names}. See `workbench {_DOCUMENTING_COMMAND} --help`."


def arrange(app: typer.Typer) -> None:
    """Group the commands, and format their help as plain text."""
    panels = {name: panel for panel, names in _GROUPS.items() for name in names}
    for command in app.registered_commands:
        command.cls = PlainHelpCommand
        command.rich_help_panel = panels.get(command.name or str(getattr(command.callback, "__name__", "")))
    for group in app.registered_groups:
        if group.typer_instance:
            group.rich_help_panel = panels.get(str(group.typer_instance.info.name))
            for command in group.typer_instance.registered_commands:
                command.cls = PlainHelpCommand


def _unwrapped(text: str | None) -> str | None:
    """Join the lines of each paragraph, so that they wrap at the width of the terminal."""
    if not text:
        return text
    return "\n\n".join(_escaped(" ".join(paragraph.split())) for paragraph in text.split("\n\n"))


def _escaped(text: str) -> str:
    r"""Escape what rich would read as a tag, like ``rich.markup.escape``, without importing rich for each command."""
    return _TAG.sub(r"\\[", text)
