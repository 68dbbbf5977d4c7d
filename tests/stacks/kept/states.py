"""The shipped stacks against states that the code at 1ac037d wrote: which resources would change, in which fields.

``states/<stack>.json.xz`` is what ``up`` of the stand-in of the CLI wrote, run with the code of that commit, and
``states/local.db.xz`` with its key what ``up`` of the local engine did. They are never written again.
``changes.yaml`` lists the changes that are accepted. Run as a program, this prints the differences, those that are
not accepted first, and ends with 1 where there are any:

    python -m tests.stacks.kept.states [STACK...]
"""

import datetime
import fnmatch
import io
import json
import lzma
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.stacks.shipped import ON_AWS, ROOT, Clock
from workbench.engine.diff import changes, ignored
from workbench.engine.display import JsonDisplay
from workbench.engine.local import LocalEngine, RunOptions
from workbench.engine.program.resources import STACK_TYPE
from workbench.engine.project import load_project
from workbench.engine.values import masked

HERE = Path(__file__).parent
STACKS = ("local", *ON_AWS)
KUBECONFIG = "workbench/planning/nowhere.yaml"
"""The path of the kubeconfig in the state of the local stack: part of the provider's inputs."""


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """One field of one resource; a resource that is created or deleted has no field."""

    stack: str
    resource: str
    """The part of the URN after the project: types and name."""
    field: str
    what: str

    def __str__(self) -> str:
        return f"{self.stack}: {self.resource}: {self.field}{': ' * bool(self.field)}{self.what}"


@dataclass(frozen=True, slots=True)
class Accepted:
    """Differences that are meant, by patterns as the shell has them."""

    stacks: Sequence[str]
    resource: str
    because: str
    field: str = ""

    def covers(self, difference: Difference) -> bool:
        """Whether this entry accepts a difference."""
        return (
            difference.stack in self.stacks
            and fnmatch.fnmatchcase(difference.resource, self.resource)
            and fnmatch.fnmatchcase(difference.field, self.field.replace("[", "[[]"))
        )


def accepted() -> list[Accepted]:
    """Return the entries of changes.yaml."""
    return [Accepted(**entry) for entry in yaml.safe_load((HERE / "changes.yaml").read_text()) or ()]


def differences(stack: str) -> Iterator[Difference]:
    """Yield what an ``up`` of today's code would change. Resources are followed through their aliases."""
    overrides = {"kubeconfig": KUBECONFIG} if stack == "local" else {}
    before = dict(_written(stack))
    graph = LocalEngine(load_project(ROOT, stack, overrides), HERE).record(preview=True)
    for node in graph.nodes.values():
        old = next((urn for urn in (node.urn, *node.former) if urn in before), None)
        if old is None:
            yield Difference(stack, _resource(node.urn), "", "is created")
            continue
        inputs = masked(before.pop(old))
        if node.registration.custom:  # the engine compares the inputs of components with nothing
            now = json.loads(json.dumps(masked(node.inputs), default=str))
            now = ignored(inputs, now, node.registration.ignore_changes)
            for change in changes(inputs, now):
                yield Difference(
                    stack,
                    _resource(node.urn),
                    change.path,
                    f"{change.op} {_short(change.old)} => {_short(change.new)}",
                )
    for urn in before:
        yield Difference(stack, _resource(urn), "", "is deleted")


def differences_of_local_engine(folder: Path) -> Iterator[Difference]:
    """Yield what an ``up`` of the local engine would change in the stack that it deployed.

    Args:
        folder: An empty folder for a copy of its state.
    """
    (folder / "local.db").write_bytes(lzma.decompress((HERE / "states/local.db.xz").read_bytes()))
    shutil.copy(HERE / "states/local.key", folder)
    printed = io.StringIO()
    project = load_project(ROOT, "local", {"kubeconfig": KUBECONFIG})
    LocalEngine(project, folder, JsonDisplay(printed), RunOptions(offline=True)).preview()
    for step in json.loads(printed.getvalue())["resources"]:
        for change in step.get("changes") or [None]:
            field = change["path"] if change else ""
            old, new = (_short(change.get(key)) for key in ("old", "new")) if change else ("", "")
            what = f"{change['op']} {old} => {new}" if change else f"is {step['op']}d"
            yield Difference("local", _resource(step["urn"]), field, what)


def _written(stack: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for each in json.loads(lzma.decompress((HERE / f"states/{stack}.json.xz").read_bytes()))["resources"]:
        if each["type"] != STACK_TYPE:
            yield each["urn"], each["inputs"]


def _resource(urn: str) -> str:
    return urn.split("::", 2)[2]


def _short(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= 200 else f"{text[:199]}…"


def main(stacks: Sequence[str]) -> int:
    """Print the differences; return how the program ends."""
    datetime.datetime = Clock  # type: ignore[misc]
    entries = accepted()
    found = [each for stack in stacks or STACKS for each in differences(stack)]
    if "local" in (stacks or STACKS):
        with tempfile.TemporaryDirectory() as folder:
            found += differences_of_local_engine(Path(folder))
    meant = {each for each in found if any(entry.covers(each) for entry in entries)}
    for each in (each for each in found if each not in meant):
        print(f"NOT ACCEPTED {each}")  # noqa: T201
    for each in (each for each in found if each in meant):
        print(f"accepted {each}")  # noqa: T201
    print(f"{len(found)} differences, {len(found) - len(meant)} of them not accepted")  # noqa: T201
    return int(len(found) > len(meant))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
