"""Changes that must not be deployed, or that delete contents, according to a preview of the Pulumi engine.

The engine and its providers know what is deployed and what they would do, so that only the rules are applied here.
The formats are those of ``pulumi stack export`` and ``pulumi preview --json`` (ResourceV3 in
sdk/go/common/apitype/core.go and PreviewDigest in sdk/go/common/display/json.go of pulumi/pulumi at 1b594989).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .differences import MISSING, Difference, differences, parse_path, path_text, value_text
from .review import FieldDifference
from .snapshot import FindingState, RegisteredResource, Snapshot, ValueSource
from .transitions import ResourcePair, findings, refused_changes

_State = Mapping[str, Any]
_REPLACING = frozenset({"replace", "create-replacement", "delete-replaced"})
_SOME_FIELD = FieldDifference("", None, None, replaces=True)
"""For a replacement of which the engine names no field."""


def has_resources(exported: _State) -> bool:
    """Whether a state contains resources that an update could delete."""
    return any(not str(resource["type"]).startswith("pulumi:") for resource in _real(exported))


def findings_in_preview(exported: _State, previewed: _State, settings: Snapshot) -> tuple[FindingState, ...]:
    """Return what must not be deployed and what loses contents as findings, also those that the settings ignore.

    Args:
        exported: The deployed state.
        previewed: The preview of an update of it.
        settings: The stack, with its file and the rules that it ignores.
    """
    deployed = {str(resource["urn"]): resource for resource in _real(exported)}
    names = _references(deployed.values())
    steps: dict[str, list[_State]] = {}
    for step in previewed.get("steps") or ():
        if (step.get("newState") or step.get("oldState") or {}).get("custom"):
            steps.setdefault(str(step["urn"]), []).append(step)
    pairs: list[ResourcePair] = []
    fields: dict[str, tuple[FieldDifference, ...]] = {}
    first = set()
    changed = set(steps)
    for urn, own in steps.items():
        before, after = _state_of(own, "oldState"), _state_of(own, "newState")
        changed.add(str(before.get("urn", urn)))
        # The engine follows aliases: the state before has the former URN.
        pairs.append((_registered(before, names), _registered(after, names, former=before.get("urn", ""))))
        if before and after:
            fields[urn] = tuple(_differences(own, before.get("inputs") or {}, after.get("inputs") or {}))
        if _deletes_first(own):
            first.add(urn)
    for urn, resource in deployed.items():
        if urn not in changed:
            same = _registered(resource, names)
            pairs.append((same, same))
    sources = {name: (source,) for name, source in names.values()}
    refused = refused_changes(pairs, fields, sources, compared={}, deleted_first=first)
    return tuple(findings(refused, settings))


def _real(exported: _State) -> Iterator[_State]:
    """Yield the resources of a state, without components and what is already about to be deleted."""
    for resource in (exported.get("deployment") or {}).get("resources") or ():
        if resource.get("custom") and not resource.get("delete"):
            yield resource


def _references(resources: Iterable[_State]) -> dict[str, tuple[str, ValueSource]]:
    """Return a placeholder and its source for each value by which other resources refer to one: its ID and its ARN.

    Values that are inputs too, such as names, say nothing about where they come from.
    """
    names: dict[str, tuple[str, ValueSource]] = {}
    for resource in resources:
        inputs = {value for value in (resource.get("inputs") or {}).values() if isinstance(value, str)}
        values = {"id": resource.get("id"), "arn": (resource.get("outputs") or {}).get("arn")}
        for output, value in values.items():
            if isinstance(value, str) and value and value not in inputs:
                title = _title(resource)
                names.setdefault(value, (f"[{output} of {title}]", ValueSource(str(resource["urn"]), output)))
    return names


def _state_of(steps: Sequence[_State], key: str) -> _State:
    """Return a resource before or after the steps of its URN; empty if it does not exist then."""
    alone = "create" if key == "oldState" else "delete"
    if all(step.get("op") == alone for step in steps):
        return {}
    return next((step[key] for step in steps if step.get(key)), {})


def _deletes_first(steps: Sequence[_State]) -> bool:
    operations = [step.get("op") for step in steps]
    if not {"delete-replaced", "create-replacement"} <= {*operations}:
        return False
    return operations.index("delete-replaced") < operations.index("create-replacement")


def _differences(steps: Sequence[_State], before: _State, after: _State) -> Iterator[FieldDifference]:
    """Yield the fields that differ, and whether they replace the resource."""
    detailed: dict[str, bool] = {}
    for step in steps:
        for path, difference in (step.get("detailedDiff") or {}).items():
            detailed[path] = detailed.get(path, False) or str(difference.get("kind", "")).endswith("-replace")
        for path in (*(step.get("replaceReasons") or ()), *(step.get("diffReasons") or ())):
            is_reason = path in (step.get("replaceReasons") or ())
            detailed[path] = detailed.get(path, False) or is_reason
    for path, replaces in detailed.items():
        fields = parse_path(path)
        old, new = (_at(inputs, path) for inputs in (before, after))
        # A reason names only a property of the resource, such as the whole spec of an object.
        found = list(differences(old, new, path=fields))
        if replaces and not found:
            found = [Difference(fields, old, new)]
        for difference in found:
            yield FieldDifference(
                path_text(difference.path), value_text(difference.before), value_text(difference.after), replaces
            )
    if not any(detailed.values()) and any(step.get("op") in _REPLACING for step in steps):
        yield _SOME_FIELD


def _at(value: Any, path: str) -> Any:  # noqa: ANN401  any JSON value
    for step in parse_path(path):
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, Mapping) and step in value:
            value = value[step]
        else:
            return MISSING
    return value


def _registered(
    state: _State, names: Mapping[str, tuple[str, ValueSource]], *, former: str = ""
) -> RegisteredResource | None:
    """Return a resource of the engine; None if it does not exist."""
    if not state:
        return None
    return RegisteredResource(
        urn=str(state["urn"]),
        type=str(state["type"]),
        title=_title(state),
        inputs=_named(dict(state.get("inputs") or {}), names),
        former=(former,) if former else (),
        ignored=tuple(state.get("ignoreChanges") or ()),
        replaced_on=tuple(state.get("replaceOnChanges") or ()),
        provider=str(state.get("provider", "")).rpartition("::")[0],
        protected=bool(state.get("protect")),
        retained=bool(state.get("retainOnDelete")),
        is_read=bool(state.get("external")),
    )


def _named(value: Any, names: Mapping[str, tuple[str, ValueSource]]) -> Any:  # noqa: ANN401
    """Return a value with placeholders for what refers to other resources."""
    if isinstance(value, str):
        return names[value][0] if value in names else value
    if isinstance(value, Mapping):
        return {key: _named(inner, names) for key, inner in value.items()}
    return [_named(inner, names) for inner in value] if isinstance(value, list) else value


def _title(state: _State) -> str:
    """Return type and name of a resource: ``aws:eks/cluster cluster``."""
    package, module, _ = f"{state['type']}::".split(":")[:3]
    return f"{package}:{module} {str(state['urn']).split('::', 3)[-1]}"
