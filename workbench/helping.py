"""Help of commands: grouped, with whole paragraphs and literal brackets."""

import re
from typing import Any

import typer
from typer.core import TyperCommand

CHECK, DEPLOY = "Check manifests, without a cluster", "Deploy a stack"
CAPACITY, FLEET = "Size models and autoscalers", "Run the live fleet on this machine"
_TAG = re.compile(r"\[(?=[a-z#/@][^\[]*?\])")
_GROUPS = {
    CHECK: ("plan", "validate", "explain", "render", "defaults", "crds", "schema"),
    DEPLOY: ("up", "preview", "destroy", "outputs", "capacity", "cluster"),
    CAPACITY: ("size", "simulate", "fit-profile"),
    FLEET: ("load", "watch", "fault", "speed"),
}


_OVERRIDES = ("realization", "workload", "namespace", "runtimes", "cache_claim", "cache_host_path", "other_kinds")
"""Options of every command on manifests that override settings."""
_EXPLAINED_AT = "validate"


class Helped(TyperCommand):
    """A command whose help is plain text: typer reads brackets as markup, and keeps line breaks of docstrings."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401  as typer calls it
        super().__init__(*args, **options)
        self.help = _flowing(self.help)
        self.short_help = _flowing(self.short_help)
        for each in self.params:
            text = getattr(each, "help", None)
            if text:
                each.help = _escaped(text)  # type: ignore[attr-defined]
        overriding = [each for each in self.params if each.name in _OVERRIDES]
        if len(overriding) == len(_OVERRIDES) and self.name != _EXPLAINED_AT:
            for each in overriding:
                each.hidden = True  # type: ignore[attr-defined]
            names = ", ".join(each.opts[0] for each in overriding)
            self.epilog = (
                f"Also takes the place of settings: {names}. The help of `workbench {_EXPLAINED_AT}` explains them."
            )


def arrange(app: typer.Typer) -> None:
    """Group the commands, and format their help as plain text."""
    panels = {name: panel for panel, names in _GROUPS.items() for name in names}
    for command in app.registered_commands:
        command.cls = Helped
        command.rich_help_panel = panels.get(command.name or str(getattr(command.callback, "__name__", "")))
    for group in app.registered_groups:
        if group.typer_instance:
            group.rich_help_panel = panels.get(str(group.typer_instance.info.name))
            for command in group.typer_instance.registered_commands:
                command.cls = Helped


def _flowing(text: str | None) -> str | None:
    """Return paragraphs as one line each, which the terminal breaks where it ends."""
    if not text:
        return text
    return "\n\n".join(_escaped(" ".join(paragraph.split())) for paragraph in text.split("\n\n"))


def _escaped(text: str) -> str:
    r"""Return a text whose brackets rich takes for brackets: only what looks like a tag may be escaped.

    The same as ``rich.markup.escape``, which would be imported for each command.
    """
    return _TAG.sub(r"\\[", text)
