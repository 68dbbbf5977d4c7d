"""Edits of stacks, and what becomes of them by the facts of the providers: ``edits.yaml``."""

import copy
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from tests.provider_model.program import Program, program_in, project

_FOLDER = Path(__file__).parent
_MODELS = "models"


@dataclass(frozen=True)
class State:
    """The settings of a stack, and its manifests by file."""

    settings: Mapping[str, Any]
    models: Mapping[str, Any]

    def changed(self, change: Mapping[str, Any]) -> "State":
        """Return the state after an edit with ``set`` and ``models``."""
        settings, models = copy.deepcopy((dict(self.settings), dict(self.models)))
        for path, value in change.get("set", {}).items():
            _set(settings, path, value)
        _change_models(models, change.get("models", {}))
        return State(settings, models)

    def program(self) -> Program:
        """Run the program."""
        return _program(yaml.safe_dump({"settings": self.settings, "models": self.models}, sort_keys=True))


@dataclass(frozen=True)
class Case:
    """One edit.

    Attributes:
        change: ``set`` and ``models`` of the edit.
        refused: The setting that a finding names; empty if the edit is deployed.
        restarts: Replicas that restart.
        empties: The setting with which a cache or namespace is deleted; empty if none is.
        named: Names of resources that are among the replaced, updated, created, deleted and kept ones.
    """

    name: str
    before: State
    after: State
    refused: str = ""
    restarts: int = 0
    empties: str = ""
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    in_place: bool = False
    nothing: bool = False


def bases() -> dict[str, State]:
    """Return the stacks that edits begin with."""
    found = _load("bases.yaml")
    states = {}
    for name, settings in found["bases"].items():
        models = settings.pop(_MODELS, {})
        states[name] = State(settings, {"manifests/chat.yaml": found["models"]["chat"]}).changed({_MODELS: models})
    return states


def cases() -> list[Case]:
    states = bases()
    found = []
    for row in _load("edits.yaml")["edits"]:
        before = states[row["base"]]
        after = before.changed(row)
        if "then" in row:
            before, after = after, after.changed(row["then"])
        found.append(
            Case(
                name=row["name"],
                before=before,
                after=after,
                refused=row.get("refused", ""),
                restarts=row.get("restarts", 0),
                empties=row.get("empties", ""),
                named={
                    kind: frozenset(row[kind])
                    for kind in ("replaced", "updated", "created", "deleted", "kept")
                    if kind in row
                },
                in_place=row.get("in_place", False),
                nothing=row.get("nothing", False),
            )
        )
    return found


def _load(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((_FOLDER / name).read_text())
    return copy.deepcopy(found)


def _set(settings: dict[str, Any], path: str, value: Any) -> None:
    """Set a value at a path; names of instance types have a dot of their own."""
    for known in ("g5.2xlarge", "p5.48xlarge"):
        path = path.replace(known, known.replace(".", "\0"))
    *above, last = (step.replace("\0", ".") for step in path.split("."))
    place = settings
    for step in above:
        place[step] = dict(place.get(step) or {})
        place = place[step]
    if value is None:
        place.pop(last, None)
    else:
        place[last] = value


def _change_models(models: dict[str, Any], change: Mapping[str, Any]) -> None:
    chat = copy.deepcopy(models["manifests/chat.yaml"])
    models["manifests/chat.yaml"] = chat
    _change_model(chat, {key: value for key, value in change.items() if key != "add"})
    for name, of in change.get("add", {}).items():
        added = copy.deepcopy(chat)
        added[0]["metadata"]["name"] = added[1]["spec"]["modelClaim"]["modelName"] = f"of-{name}"
        added[1]["metadata"]["name"] = name
        added[1]["spec"]["replicas"] = 1
        _change_model(added, of)
        models[f"manifests/{name}.yaml"] = added


def _change_model(documents: list[Any], change: Mapping[str, Any]) -> None:
    flavor = documents[0]["spec"]["inferenceConfig"]["flavors"][0]
    runtime = documents[1]["spec"]["backendRuntimeConfig"]
    if "type" in change:
        flavor["params"] = {"INSTANCE-TYPE": change["type"]}
    if "cpu" in change:
        flavor["limits"] = {"cpu": change["cpu"]}
    if "gpus" in change:
        nodes = change["gpus"] // change.get("per_node", change["gpus"])
        flavor["limits"] = {"nvidia.com/gpu": change["gpus"] // nodes}
        if nodes > 1:
            flavor["params"] |= {"TP": str(change["per_node"]), "PP": str(nodes)}
    if "replicas" in change:
        documents[1]["spec"]["replicas"] = change["replicas"]
    if "resources" in change:
        runtime["resources"] = change["resources"]


@functools.lru_cache(maxsize=400)
def _program(text: str) -> Program:
    state = yaml.safe_load(text)
    settings = {**state["settings"], _MODELS: ["manifests"]}
    types = settings.get("gpuNodes", {}).get("types", {})
    reserved = {
        rule["reservation"]["id"]: rule["reservation"]["count"] for rule in types.values() if "reservation" in rule
    }
    with project(settings, state["models"]) as folder:
        return replace(program_in(folder, "case"), reserved=reserved)
