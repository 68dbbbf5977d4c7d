"""Upgrades of operators: what changes in which order if another release of an API is set."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...contract.checking import check
from ...contract.kinds import Kind
from ...contract.misfits import misfits
from ...contract.problems import field_path
from ...families import FAMILIES
from ...families.family import Family
from ..prerequisites.charts import charts
from .review import ChangeKind, OperatorUpgrade, ResourceChange, UpgradeStage, UpgradeStep
from .snapshot import ManifestState, RegisteredResource, Snapshot

_DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
_DEFINITION_TYPES = (_DEFINITION, f"{_DEFINITION}Patch")
_RELEASE = "kubernetes:helm.sh/v3:Release"
NOT_INSTALLED = "not installed by this stack; update them before the custom resources"
IN_CHART = "part of the chart, which updates them before the controllers"
_SIGNS = {ChangeKind.CREATED: "+", ChangeKind.UPDATED: "~", ChangeKind.REPLACED: "±", ChangeKind.DELETED: "-"}


def upgrades(base: Snapshot, head: Snapshot, changes: Sequence[ResourceChange]) -> Iterator[OperatorUpgrade]:
    """Yield the upgrade of each operator whose release differs between two revisions.

    Families that are rendered natively have none: their release decides only how manifests are validated.

    Args:
        base: The revision before.
        head: The revision after.
        changes: The changes of resources between them.
    """
    changed = {
        name for name in (*base.releases, *head.releases) if base.releases.get(name) != head.releases.get(name)
    }
    for family in (family for family in FAMILIES if family.name in changed):
        kinds = [member.kind for member in family.members]
        types = {f"kubernetes:{kind.api_version}:{kind.kind}": kind for kind in kinds}
        if not any(resource.type in types for resource in (*base.resources, *head.resources)):
            continue
        contract = family.releases.contract
        before, after = (snapshot.releases.get(family.name, contract) for snapshot in (base, head))
        operated = {
            (kind, str(metadata.get("namespace", "")), str(metadata["name"]))
            for resource in base.resources
            if (kind := types.get(resource.type)) and isinstance(metadata := resource.inputs["metadata"], Mapping)
        }
        yield OperatorUpgrade(
            family.releases.project,
            before,
            after,
            tuple(_steps(family, head.resources, changes, types)),
            tuple(_dropped(base.manifests, operated, after)),
        )


def _steps(
    family: Family,
    resources: Iterable[RegisteredResource],
    changes: Sequence[ResourceChange],
    types: Mapping[str, Kind],
) -> Iterator[UpgradeStep]:
    """Yield the steps in order: definitions, controllers, custom resources."""
    names = {kind.crd_name for kind in types.values()}
    definitions = [
        change for change in changes if change.type in _DEFINITION_TYPES and change.title.split()[-1] in names
    ]
    installers = _installers(family, resources, names)
    installed = {change.urn for change in changes if _component_of(change.urn) in installers}
    own = [
        change for change in changes if change.urn in installed and change.type not in (*types, *_DEFINITION_TYPES)
    ]
    note = "" if installers else NOT_INSTALLED
    if installers and not definitions and _RELEASE in {change.type for change in own}:
        yield UpgradeStep(UpgradeStage.DEFINITIONS, (), IN_CHART)
    else:
        yield UpgradeStep(UpgradeStage.DEFINITIONS, tuple(map(_line, definitions)), note)
    yield UpgradeStep(UpgradeStage.CONTROLLERS, tuple(map(_line, own)), note)
    custom = [change for change in changes if change.type in types]
    yield UpgradeStep(UpgradeStage.CUSTOM_RESOURCES, tuple(map(_line, custom)))


def _installers(family: Family, resources: Iterable[RegisteredResource], names: set[str]) -> set[str]:
    """Return the components that install the operator, as the types of their URN with their parents'."""
    releases = {chart.release for chart in charts().values() if chart.family == family.name}
    return {
        component
        for resource in resources
        if (component := _component_of(resource.urn))
        and (
            (resource.type == _RELEASE and resource.inputs.get("name") in releases)
            or (resource.type in _DEFINITION_TYPES and resource.retained and resource.title.split()[-1] in names)
        )
    }


def _component_of(urn: str) -> str:
    parts = urn.split("::")
    return parts[2].rpartition("$")[0] if len(parts) > 2 else ""


def _line(change: ResourceChange) -> str:
    version = next((field for field in change.fields if field.path == "version"), None)
    versions = f" {version.before} → {version.after}" if version else ""
    note = f" ({change.note})" if change.note else ""
    return f"{_SIGNS[change.kind]} {change.title}{versions}{note}"


def _dropped(manifests: Iterable[ManifestState], operated: set[tuple[Kind, str, str]], after: str) -> Iterator[str]:
    """Yield what the API server drops from stored objects once it has the definitions of the new release."""
    bodies = {manifest.key: manifest for manifest in manifests}
    for kind, namespace, name in sorted(operated, key=lambda key: (key[0].kind, key[1:])):
        manifest = bodies.get((kind.kind, namespace, name))
        resource = check(dict(manifest.body), kind.at(""))[0] if manifest else None
        if resource is None or not kind.at(after).exists:
            continue
        paths = [
            field_path(path) for path, reason in misfits(resource, kind, after) if reason.startswith("unknown field")
        ]
        if paths:
            yield f"{kind.kind} {'/'.join(filter(None, (namespace, name)))}: {', '.join(paths)}"
