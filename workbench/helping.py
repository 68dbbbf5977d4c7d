"""The tree of commands and its help: groups, paragraphs, examples, exit codes, and what an error proposes."""

import copy
import difflib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .errors import WorkbenchError

PROGRAM = "workbench"
_EXAMPLES = Path(__file__).with_name("examples.json")
START = "Start a repository"
ADOPT = "Start from what runs in a cluster"
CHECK, DEPLOY = "Check manifests, without a cluster", "Deploy a stack"
CAPACITY, FURTHER = "Size models and autoscalers", "Further commands"
_PANELS = {
    START: ("init",),
    ADOPT: ("inspect", "adopt", "eject"),
    CHECK: ("plan", "validate", "explain", "render", "migrate"),
    DEPLOY: ("up", "preview", "destroy", "outputs", "diff", "cluster"),
    CAPACITY: ("fit", "size", "simulate"),
    FURTHER: ("live", "dev"),
}
GROUPS = {
    "live": (
        "Run load, faults and a live view against the fleet on this machine.",
        ("load", "watch", "fault", "speed"),
    ),
    "dev": (
        "Commands for developers and tools: schemas, defaults, profiles, node groups, the Pulumi CLI.",
        ("defaults", "crds", "schema", "fit-profile", "capacity", "build-pulumi"),
    ),
}
"""Commands below a word of their own, which also work without it, as in earlier versions."""
_DELETING = frozenset({"destroy", "eject", "fault"})
"""Commands that no message proposes: who follows it without reading loses something."""
_UNPROPOSED = frozenset({"--yes", "--force", "--lossy"})
"""Options that no message proposes, because they skip a question or a refusal."""
_MEANT = {
    "apply": "up",
    "bench": "live load",
    "check": "validate",
    "convert": "migrate",
    "cost": "plan",
    "costs": "plan",
    "create": "init",
    "deploy": "up",
    "import": "adopt",
    "install": "up",
    "lint": "validate",
    "new": "init",
    "price": "plan",
    "show": "outputs",
    "start": "up",
    "status": "outputs",
    "template": "render",
    "test": "validate",
    "top": "live watch",
    "update": "up",
    "upgrade": "migrate",
    "verify": "validate",
}
"""Words of other tools, and the command that does the same here."""
_SIMILAR = 0.7
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
_EXIT_CODES = "Exit codes:"
_USUAL_CODES = "Exit codes: 0 success, 1 an error, 2 usage error."
OLD_NAMES = {"--output": "--format"}
"""Earlier names of options of all commands, which still work, but appear in no help."""
_OLD_NAMES_OF = {"explain": {"--details": "--all"}, "simulate": {"--details": "--all"}}
"""Earlier names of options of one command, likewise."""
_OLD_FORMATS = {"table": "text"}
"""Earlier names of output formats, likewise."""
_OUTPUT_OPTIONS = ("-o", "--output", "--format")


class CommandGroup(TyperGroup):
    """A group whose help lists its commands by subject, and which proposes only harmless commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  of typer's own copy of click
        """Write a section for each subject, with the first sentence of each command."""
        by_panel: dict[str, list[tuple[str, str]]] = {}
        width = max((len(name) for name, command in self.commands.items() if not command.hidden), default=0)
        for name in self.list_commands(ctx):
            command = self.commands[name]
            if not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or "Commands"
                by_panel.setdefault(str(panel), []).append((name.ljust(width), first_sentence(command.help)))
        panels = [*_PANELS, *by_panel]
        for panel in sorted(by_panel, key=panels.index):
            order = _PANELS.get(panel, ())
            rows = sorted(by_panel[panel], key=lambda row: _position(row[0].strip(), order))
            with formatter.section(panel):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  see above
        """Write examples."""
        _write_examples(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401  see above
        """Find a command.

        Raises:
            WorkbenchError: there is none; the message proposes the nearest harmless one.
        """
        name = args[0] if args else ""
        if name and not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            near = nearest_command(name, self.commands, tuple(ctx.command_path.split()[1:]))
            raise WorkbenchError(f"unknown command {name!r}{_proposal(near)} '{ctx.command_path} --help'", 2)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  see above
        """Read the options, and report an unknown one, or a wrong value, in a line."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            _raise_unknown_option(ctx, error)
            _raise_wrong_value(error)
            raise


class PlainHelpCommand(TyperCommand):
    """A command whose help wraps paragraphs, and which accepts the earlier names of its options."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401  as typer calls it
        super().__init__(*args, **options)
        self.help = _unwrapped(self.help)
        self.short_help = _unwrapped(self.short_help)
        overrides = [param for param in self.params if param.name in _OVERRIDES]
        if len(overrides) == len(_OVERRIDES) and self.name != _DOCUMENTING_COMMAND:
            for param in overrides:
                param.hidden = True  # type: ignore[attr-defined]
            names = ", ".join(param.opts[0] for param in overrides)
            self.epilog = f"Options that override settings: {names}. See `{PROGRAM} {_DOCUMENTING_COMMAND} --help`."

    def make_parser(self, ctx: Any) -> Any:  # noqa: ANN401  of typer's own copy of click, or of click
        """Also accept the earlier names of options."""
        parser = super().make_parser(ctx)
        for name, param in self.renamed().items():
            flag: dict[str, Any] = (
                {"action": "store_const", "const": True} if getattr(param, "is_flag", False) else {}
            )
            parser.add_option(obj=param, opts=[name], dest=param.name, **flag)
        return parser

    def renamed(self) -> dict[str, Any]:
        """Return options by their earlier names."""
        names = {name for param in self.params for name in param.opts}
        old = OLD_NAMES | _OLD_NAMES_OF.get(self.name or "", {})
        return {
            old[name]: param for param in self.params for name in param.opts if name in old and old[name] not in names
        }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  see above
        """Read the options, and report an unknown one, or a wrong value, in a line."""
        if any("--output" in param.opts for param in self.params):
            args = _with_current_formats(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            _raise_unknown_option(ctx, error)
            _raise_wrong_value(error)
            raise

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  see above
        """Write examples, further options, and the exit codes of commands that do not describe their own."""
        _write_examples(ctx, formatter)
        super().format_epilog(ctx, formatter)
        if _EXIT_CODES not in (self.help or ""):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(_USUAL_CODES)


def arrange(app: typer.Typer) -> None:
    """Group the commands, and format their help as plain text of 80 columns."""
    panels = {name: panel for panel, names in _PANELS.items() for name in names}
    below = {name: group for group, (_, names) in GROUPS.items() for name in names}
    groups: dict[str, typer.Typer] = {}
    for command in app.registered_commands:
        name = _name_of(command)
        command.cls = PlainHelpCommand
        command.rich_help_panel = panels.get(name)
        if name in below:
            groups.setdefault(below[name], _group(below[name])).registered_commands.append(copy.copy(command))
            command.hidden = True
    for name in GROUPS:
        if name in groups:
            app.add_typer(groups[name])
    for group in app.registered_groups:
        if group.typer_instance:
            group.rich_help_panel = panels.get(str(group.typer_instance.info.name))
            group.typer_instance.info.cls = CommandGroup
            group.typer_instance.rich_markup_mode = None
            for command in group.typer_instance.registered_commands:
                command.cls = PlainHelpCommand


def nearest_command(name: str, known: Iterable[str], group: tuple[str, ...] = ()) -> str:
    """Return the harmless command that a word means, or is similar to; empty without one.

    Args:
        name: The word.
        known: The commands of the group.
        group: The words before it.
    """
    word = name.lower()
    if not group and word in _MEANT:
        return _MEANT[word]
    harmless = [each for each in known if each not in _DELETING]
    close = difflib.get_close_matches(word, harmless, n=1, cutoff=_SIMILAR)
    if not close:
        return ""
    below = {each: words for words, (_, names) in GROUPS.items() for each in names}
    words = (*group, close[0]) if group or close[0] not in below else (below[close[0]], close[0])
    return " ".join(words)


def examples_by_command() -> dict[str, list[str]]:
    """Return the examples of each command, without the program's name; commands of a group by their own name."""
    examples: dict[str, list[str]] = json.loads(_EXAMPLES.read_text(encoding="utf-8"))
    return examples


def first_sentence(text: str | None) -> str:
    """Return the first sentence of a help, without its period: what a list of commands says."""
    return (text or "").partition("\n\n")[0].removesuffix(".")


def _group(name: str) -> typer.Typer:
    return typer.Typer(name=name, help=GROUPS[name][0], no_args_is_help=True)


def _name_of(command: Any) -> str:  # noqa: ANN401  typer's description of a command
    return command.name or str(getattr(command.callback, "__name__", ""))


def _with_current_formats(args: list[str]) -> list[str]:
    """Return the arguments of a command with the current names of output formats."""
    current = []
    for place, word in enumerate(args):
        option, separator, value = word.partition("=")
        if place and args[place - 1] in _OUTPUT_OPTIONS:
            current.append(_OLD_FORMATS.get(word, word))
        elif separator and option in _OUTPUT_OPTIONS:
            current.append(f"{option}={_OLD_FORMATS.get(value, value)}")
        else:
            current.append(word)
    return current


def _position(name: str, order: tuple[str, ...]) -> int:
    return order.index(name) if name in order else len(order)


def _raise_unknown_option(ctx: Any, error: Exception) -> None:  # noqa: ANN401  see CommandGroup
    """Raise a message of one line for an unknown option; return for any other error.

    Raises:
        WorkbenchError: the option is unknown.
    """
    option = getattr(error, "option_name", None)
    if option is None or not hasattr(error, "possibilities"):
        return
    known = [
        name
        for param in ctx.command.params
        if not getattr(param, "hidden", False)
        for name in (*param.opts, *param.secondary_opts)
        if name.startswith("--") and name not in _UNPROPOSED
    ]
    close = difflib.get_close_matches(str(option), known, n=1, cutoff=_SIMILAR)
    near = close[0] if close else ""
    raise WorkbenchError(f"unknown option {str(option)!r}{_proposal(near)} '{ctx.command_path} --help'", 2)


def _raise_wrong_value(error: Exception) -> None:
    """Raise a message of one line for a value that an option does not take; return for any other error.

    Raises:
        WorkbenchError: the value is wrong; the message says what is allowed.
    """
    param, details = getattr(error, "param", None), getattr(error.__cause__, "errors", None)
    if param is None or details is None:
        return
    from components.contract.problems import did_you_mean

    detail = details()[0]
    option = max(param.opts, key=len) if param.opts[0].startswith("-") else param.metavar or param.name.upper()
    found = f"found {str(detail['input'])!r}"
    reason = str(detail["msg"]).removeprefix("Value error, ")
    if choices := re.findall(r"'([^']*)'", reason.partition(" is not one of ")[2]):
        hint = did_you_mean(str(detail["input"]), choices)
        raise WorkbenchError(f"{option}: must be one of {', '.join(choices)}, {found}{hint}", 2)
    expected = reason.partition(", unable to parse")[0].replace("Input should be", "must be").rstrip(".")
    raise WorkbenchError(f"{option}: {expected}, {found}", 2)


def _proposal(near: str) -> str:
    return f"; did you mean '{near}'? See" if near else "; see"


def _write_examples(ctx: Any, formatter: Any) -> None:  # noqa: ANN401  see CommandGroup
    """Write the examples of a command; they are not wrapped, so that they can be copied."""
    known = examples_by_command()
    examples = known.get(" ".join(ctx.command_path.split()[1:])) or known.get(ctx.info_name or "")
    if not examples:
        return
    with formatter.section("Examples"):
        for example in examples:
            formatter.write(f"  {PROGRAM} {example}\n")


def _unwrapped(text: str | None) -> str | None:
    """Join the lines of each paragraph, so that they wrap at the width of the terminal."""
    if not text:
        return text
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
