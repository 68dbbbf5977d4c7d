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
    typer.Option("--show-secrets", help="Print what looks like a secret in clear, not as [secret]."),
]


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


def write_objects(objects: Iterable[dict[str, Any]], *, show_secrets: bool) -> None:
    """Write objects as YAML.

    Secrets are masked, since output ends up in logs and repositories. A warning on stderr says so, because masked
    objects cannot be applied.
    """
    from components.contract.documents.writer import dump_all
    from components.contract.texts.secrets import replace_in_object

    masked = 0

    def mask(_: object, text: str) -> str:
        nonlocal masked
        masked += 1
        return text

    sys.stdout.write(dump_all(value if show_secrets else replace_in_object(value, mask) for value in objects))
    if masked:
        values = "1 value looks" if masked == 1 else f"{masked} values look"
        print(  # noqa: T201
            f"warning: {values} like a secret and cannot be applied as printed, as [secret]; put secrets into a "
            "Secret and refer to it, or use --show-secrets",
            file=sys.stderr,
        )
