"""Output of commands: formats, messages and Kubernetes objects."""

import enum
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from components.contract.problems import Problem


class Format(enum.StrEnum):
    """Output format of results."""

    TEXT = "text"
    JSON = "json"


def output_option(help_text: str = "Output format.") -> Any:  # noqa: ANN401  as typer declares it
    """Return the option of every command that prints in several formats."""
    return typer.Option("--output", "-o", help=help_text)


Output = Annotated[Format, output_option()]
"""The option of commands that print text or JSON."""
ShowSecrets = Annotated[
    bool,
    typer.Option(
        "--show-secrets", help="Print all values, so that the objects can be applied; output may contain secrets."
    ),
]
ShowValues = Annotated[
    bool,
    typer.Option(
        "--show-values",
        help="Show values that may be secrets, not their length and digest. Only on a terminal.",
        callback=lambda asked: _show_values() if asked else None,
    ),
]
"""The option of commands whose reports show values."""


def _show_values() -> bool:
    from components.contract.texts.secrets import show_values

    # Logs, files and pipes are read by others.
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        raise typer.BadParameter("requires a terminal: output that is redirected or logged never shows these values")
    show_values()
    return True


_MOST_PROBLEMS = 100


def problem_lines(problems: "Sequence[Problem]") -> str:
    """Format the problems of an input, one per line; the number of further ones after the first hundred."""
    ordered = [str(problem) for problem in sorted(problems, key=lambda problem: problem.sort_key)]
    further = len(ordered) - _MOST_PROBLEMS
    return "\n".join([*ordered[:_MOST_PROBLEMS], *([f"and {further} more"] if further > 0 else [])])


def pluralize(number: int, word: str) -> str:
    """Return ``1 file``, ``3 files``, ``2 losses``."""
    ending = "es" if word.endswith("s") else "s"
    return f"{number} {word}{ending * (number != 1)}"


def print_to_stderr(lines: Iterable[str]) -> None:
    """Write messages to stderr; on a terminal, they are wrapped between words."""
    from components.contract.texts.printable import printable

    from .screen import Screen, write

    screen = Screen.of(sys.stderr) if sys.stderr.isatty() else None
    for line in lines:
        # Logs and scripts read one message a line.
        write(screen.text(line, hanging="  ") if screen else [printable(line)], sys.stderr)


def write_objects(
    objects: Iterable[dict[str, Any]], others: Iterable[dict[str, Any]] = (), *, show_secrets: bool
) -> None:
    """Write objects as YAML.

    Values that may be secrets are hidden, since output ends up in logs and repositories. A warning on stderr says so,
    because such objects cannot be applied.

    Args:
        objects: Objects that this project renders; the files in their ConfigMaps are its own.
        others: Objects as users wrote them.
        show_secrets: Whether to write all values.
    """
    from components.contract.documents.writer import dump_all
    from components.contract.texts.hidden import HIDDEN
    from components.contract.texts.secrets import masked

    if show_secrets:
        sys.stdout.write(dump_all([*objects, *others]))
        return
    text = dump_all([*(masked(value, files=False) for value in objects), *map(masked, others)])
    sys.stdout.write(text)
    number = len(HIDDEN.findall(text))
    if number:
        values = "1 value that may be a secret is" if number == 1 else f"{number} values that may be secrets are"
        print(  # noqa: T201
            f"warning: {values} hidden, as [hidden:LENGTH:DIGEST], and cannot be applied as printed; put secrets "
            "into a Secret and refer to it, or use --show-secrets",
            file=sys.stderr,
        )
