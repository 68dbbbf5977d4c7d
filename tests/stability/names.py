"""The public names that do not change, and the golden list of them (docs/stability.md).

``make stable-names`` adds new names and removes none: a rename edits it by hand, with alias and changelog.
"""

import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import typer
import yaml

from components.contract.findings.ids import RuleId
from components.resources.plugin import SCHEMA
from workbench.cli import app

GOLDEN = Path(__file__).with_name("names.txt")
ROOT = Path(__file__).parents[2]


def names() -> frozenset[str]:
    """Return the names of today, each after what it names."""
    return frozenset([*_schema(), *_settings(), *_commands(), *(f"finding {rule}" for rule in RuleId)])


def _schema() -> Iterator[str]:
    schema = json.loads(SCHEMA.read_text())
    for token, resource in schema["resources"].items():
        yield f"component {token}"
        yield from (f"argument {token}.{name}" for name in resource["inputProperties"])
        yield from (f"output {token}.{name}" for name in resource["properties"])
    for token, described in schema["types"].items():
        yield from (f"argument {token}.{name}" for name in described["properties"])


def _settings() -> Iterator[str]:
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    yield from (f"setting {key}" for key in project["config"])


def _commands() -> Iterator[str]:
    def of(group: object, words: tuple[str, ...]) -> Iterator[str]:
        for name, command in getattr(group, "commands", {}).items():
            yield f"command {' '.join((*words, name))}"
            for parameter in command.params:
                for option in (*parameter.opts, *parameter.secondary_opts):
                    if option.startswith("--") and option != "--help":
                        yield f"option {' '.join((*words, name))} {option}"
            for option in getattr(command, "renamed", dict)():
                yield f"option {' '.join((*words, name))} {option}"
            yield from of(command, (*words, name))

    yield from of(typer.main.get_command(app), ("workbench",))


def golden() -> frozenset[str]:
    return frozenset(GOLDEN.read_text().splitlines())


def gone(listed: Collection[str], current: Collection[str]) -> list[str]:
    """Return the listed names that do not exist any more."""
    return sorted(set(listed) - set(current))


if __name__ == "__main__":
    known = golden() if GOLDEN.exists() else frozenset()
    GOLDEN.write_text("".join(f"{name}\n" for name in sorted(known | names())))
    sys.exit(0)
