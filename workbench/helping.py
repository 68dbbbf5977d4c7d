"""Layout of ``--help``: command groups, and paragraphs that wrap."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

START = "Start a repository"
ADOPT = "Start from what runs in a cluster"
CHECK, DEPLOY = "Check manifests, without a cluster", "Deploy a stack"
CAPACITY, FLEET = "Size models and autoscalers", "Run the live fleet on this machine"
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


OLD_NAMES = {"--output": "--format"}
"""Earlier names of options, which still work, but appear in no help."""


class CommandGroup(TyperGroup):
    """A group whose help lists its commands by subject."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  of typer's own copy of click
        """Write a section for each subject, with the first sentence of each command."""
        by_panel: dict[str, list[tuple[str, str]]] = {}
        width = max((len(name) for name, command in self.commands.items() if not command.hidden), default=0)
        for name in self.list_commands(ctx):
            command = self.commands[name]
            if not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or "Commands"
                by_panel.setdefault(str(panel), []).append((name.ljust(width), first_sentence(command.help)))
        panels = [*_GROUPS, *by_panel]
        for panel in sorted(by_panel, key=panels.index):
            with formatter.section(panel):
                formatter.write_dl(by_panel[panel])


def first_sentence(text: str | None) -> str:
    """Return the first sentence of a help, without its period: what a list of commands says."""
    return (text or "").partition("\n\n")[0].removesuffix(".")


class PlainHelpCommand(TyperCommand):
    """A command whose help wraps paragraphs, and which accepts the earlier names of its options."""

    def make_parser(self, ctx: Any) -> Any:  # noqa: ANN401  of typer's own copy of click, or of click
        """Also accept the earlier names of options."""
        parser = super().make_parser(ctx)
        for name, param in self.renamed().items():
            parser.add_option(obj=param, opts=[name], dest=param.name)
        return parser

    def renamed(self) -> dict[str, Any]:
        """Return options by their earlier names."""
        names = {name for param in self.params for name in param.opts}
        return {
            OLD_NAMES[name]: param
            for param in self.params
            for name in param.opts
            if name in OLD_NAMES and OLD_NAMES[name] not in names
        }

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401  as typer calls it
        super().__init__(*args, **options)
        self.help = _unwrapped(self.help)
        self.short_help = _unwrapped(self.short_help)
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
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
