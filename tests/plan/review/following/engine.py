"""An engine without unknown values: every output says of which resource it is, and how often that was replaced.

It knows nothing of how ``plan`` compares. A program runs until no resource is replaced or updated for the first time:
each run gets the outputs that the last one leads to. The rules are those of step_generator.go of pulumi/pulumi; which
fields replace is read from the same tables, since no provider runs here.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from components.plan.review.differences import replacing_fields
from tests.recorded import Entry, Recorded, key_of
from tests.resources.aws.aws_mock import Aws
from tests.stacks.shipped import ROOT

TABLE: dict[str, Any] = yaml.safe_load((ROOT / "components/clouds/aws/facts/updates.yaml").read_text())
RELEASE = "kubernetes:helm.sh/v3:Release"
PROVIDER = "pulumi:providers:kubernetes"
_NOTHING = object()


@dataclass
class World:
    """How often each resource was replaced, and how often updated, by its key."""

    replaced: dict[str, int] = field(default_factory=dict)
    updated: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int]:
        return len(self.replaced), len(self.updated)


class Known(Aws):
    """Outputs beyond the inputs have the number of the replacement in them; some have that of the update."""

    def __init__(self, world: World) -> None:
        self._world = world

    def new_resource(self, args: Any) -> tuple[str, dict[str, Any]]:
        key = f"{args.typ}::{args.name}"
        id_, outputs = super().new_resource(args)
        turn = self._world.replaced.get(key, 0)
        found = {name: _of_turn(value, args.inputs.get(name), turn) for name, value in outputs.items()}
        if "latestVersion" in found:
            found["latestVersion"] = 1000 * turn + 1 + self._world.updated.get(key, 0)
        if args.typ == RELEASE:
            found["status"] = {"revision": 1000 * turn + 1 + self._world.updated.get(key, 0)}
        digest = hashlib.sha256(key.encode()).hexdigest()[:8]
        return (f"{id_}-{digest}-{turn}" if args.typ.startswith("aws:") else id_), found


def _of_turn(value: Any, given: Any, turn: int) -> Any:
    """Return an output of a turn: what the inputs say stays."""
    if isinstance(value, dict):
        known = given if isinstance(given, dict) else {}
        return {key: _of_turn(inner, known.get(key), turn) for key, inner in value.items()}
    if value == given:
        return value
    if isinstance(value, list):
        return [_of_turn(inner, None, turn) for inner in value]
    return f"{value}-{turn}" if isinstance(value, str) and turn else value


def outcome(before: Recorded, after: Callable[[World], Recorded]) -> set[tuple[str, str]]:
    """Return what becomes of each resource, as ``(kind, key)``.

    Args:
        before: What the former program registers.
        after: Runs today's program in a world.
    """
    there = {entry.key: entry for entry in _real(before)}
    world = World()
    while True:
        here = {entry.key: entry for entry in _real(after(world))}
        pairs = dict(_pairs(there, here))
        replaced, updated = _steps({key: (there[old], here[key]) for key, old in pairs.items()}, there)
        size = world.size
        world.replaced |= dict.fromkeys(replaced, 1)
        world.updated |= dict.fromkeys(updated, 1)
        if world.size == size:
            break
    return {
        *(("replaced", key) for key in replaced),
        *(("updated", key) for key in updated - replaced),
        *(("created", key) for key in here if key not in pairs),
        *(("deleted", key) for key in there if key not in pairs.values()),
    }


def _real(recorded: Recorded) -> Iterator[Entry]:
    return (entry for entry in recorded.graph if entry.registration.custom)


def _pairs(there: Mapping[str, Entry], here: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """Yield what belongs together, by key, by alias, and objects of a cluster by their names."""
    left = {key for key in there if key not in here}
    yield from ((key, key) for key in here if key in there)
    objects = {_object(there[key]): key for key in left if _object(there[key])}
    for key, entry in here.items():
        if key not in there:
            names = [
                f"{alias.type or entry.type}::{alias.name}" for alias in entry.registration.aliases if alias.name
            ]
            found = next((name for name in names if name in left), objects.get(_object(entry)))
            if found in left:
                left.discard(found)
                yield key, found


def _object(entry: Entry) -> tuple[str, ...]:
    if not entry.registration.is_object:
        return ()
    metadata = entry.inputs["metadata"]
    group = entry.inputs["apiVersion"].rpartition("/")[0]
    return group, entry.inputs["kind"], metadata.get("namespace", ""), metadata["name"]


def _steps(pairs: Mapping[str, tuple[Entry, Entry]], there: Mapping[str, Entry]) -> tuple[set[str], set[str]]:
    """Return what is replaced and what is updated, of resources whose inputs are known."""
    replaced = {key for key, (old, new) in pairs.items() if _must_be_new(old, new)}
    updated = {key for key, (old, new) in pairs.items() if _differ(old, new)}
    today = {old.key: key for key, (old, _) in pairs.items()}
    while True:
        size = len(replaced)
        # By their provider, or by what they are not there without.
        replaced |= {key for key, (_, new) in pairs.items() if {new.provider, *_without(new)} & replaced}
        first = {pairs[key][0].key for key in replaced if _goes_first(*pairs[key])}
        # A resource that goes first takes those with it that come from it where only a new one could differ.
        waiting = True
        while waiting:
            more = {
                old.key
                for old in there.values()
                if old.key in today and old.key not in first and _needs(old, pairs[today[old.key]][1], first)
            }
            waiting = bool(more)
            first |= more
        replaced |= {today[key] for key in first}
        if len(replaced) == size:
            return replaced, updated


def _without(new: Entry) -> set[str]:
    options = new.registration
    return {key_of(urn) for urn in (options.deleted_with, *options.replaced_with) if urn}


def _needs(old: Entry, new: Entry, first: set[str]) -> bool:
    found = old.registration.property_dependencies.items()
    names = {name for name, urns in found if first & {key_of(urn) for urn in urns}}
    return any(path[0] in names for path in _fixed(old, new))


def _goes_first(old: Entry, new: Entry) -> bool:
    options, rules = new.registration, TABLE["first"]
    if options.delete_before_replace is not None:
        return bool(options.delete_before_replace)
    if options.is_object:
        return _object(old) == _object(new)
    if not new.type.startswith("aws:") or new.type in rules["never"]:
        return False
    return new.type in rules["always"] or rules["named"].get(new.type, "name") in new.inputs


def _fixed(old: Entry, new: Entry) -> list[tuple[str, ...]]:
    further = new.registration.replace_on_changes
    if new.registration.is_object:
        return replacing_fields(dict(new.inputs), further)
    paths = [*TABLE["types"].get(new.type, {}).get("replaced", ()), *further]
    if new.type == RELEASE:
        paths += ["name", "namespace"]
    if new.type == PROVIDER and "clusterIdentifier" in old.inputs and "clusterIdentifier" in new.inputs:
        paths += ["clusterIdentifier"]
    return [tuple(path.split(".")) for path in paths]


def _must_be_new(old: Entry, new: Entry) -> bool:
    if old.key != new.key and not new.registration.aliases:
        return True
    before, after = _plain(old, new)
    return any(_at(before, path) != _at(after, path) for path in _fixed(old, new))


def _differ(old: Entry, new: Entry) -> bool:
    before, after = _plain(old, new)
    return before != after


def _plain(old: Entry, new: Entry) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the inputs of both, without what is ignored, and sets in order."""
    values = tuple(json.loads(json.dumps(_opened(each.inputs))) for each in (old, new))
    for path in new.registration.ignore_changes:
        _put(values[1], tuple(path.split(".")), _at(values[0], tuple(path.split("."))))
    for path in TABLE["sets"].get(new.type, ()):
        for value in values:
            found = _at(value, tuple(path.split(".")))
            if isinstance(found, list):
                _put(value, tuple(path.split(".")), sorted(found, key=json.dumps))
    return values[0], values[1]


def _opened(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _opened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_opened(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else _opened(value.value)


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return _NOTHING
        value = value[step]
    return value


def _put(value: dict[str, Any], path: tuple[str, ...], new: Any) -> None:
    for step in path[:-1]:
        value = value.setdefault(step, {})
    if new is _NOTHING:
        value.pop(path[-1], None)
    else:
        value[path[-1]] = new


def words(found: set[tuple[str, str]]) -> list[str]:
    """Return an outcome for a reader."""
    return sorted(re.sub(r"^kubernetes:|^aws:", "", f"{key} {kind}") for kind, key in found)
