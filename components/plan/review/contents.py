"""Deletions of what has contents: data that nothing can make again, and caches and namespaces."""

from collections.abc import Iterable, Iterator, Mapping

from ...contract.findings.ids import RuleId
from ...contract.quantity import GIB
from ...fleet.cloud_providers import store
from ...fleet.shapes import pod_templates
from ...fleet.transitions import RefusedChange, Store
from ..spans import about
from ..starts.budget import WeightsFrom, steps_of
from ..starts.reading import shape_facts, start_facts
from .review import ChangeKind, ResourceChange
from .snapshot import RegisteredResource, Snapshot, WorkloadState

CLAIM = "PersistentVolumeClaim"
_GONE = (ChangeKind.DELETED, ChangeKind.REPLACED)
_MOST_NAMES = 3
_OWN, _WRITTEN = "inference-platform:index:", "inference-platform:index:OtherObjects"
_CLAIM_OF_USER = Store(
    is_cache=False,
    reason="its volume goes with it, and what pods wrote there, unless its storage class retains volumes "
    "(reclaimPolicy: Retain)",
    advice="keep its manifest; or copy the data",
)
_CLAIM_OF_MODELS = Store(reason="the weights that models cache there are deleted")
_NAMESPACE = Store(
    setting="namespace",
    reason="everything in it is deleted, also Secrets and claims that are not of this stack",
    advice="before you deploy it, list them (kubectl get secrets,pvc --namespace NAME), and create in the new "
    "namespace what models need; or restore the former name",
)


def deleted_contents(gone: Iterable[RegisteredResource]) -> Iterator[RefusedChange]:
    """Yield one change for each kind of contents that is deleted, and for each namespace; data is an error.

    Args:
        gone: The resources that are deleted, also those of which a new one takes the place.
    """
    found: dict[tuple[Store, str], list[str]] = {}
    for resource in gone:
        contents = _contents(resource)
        if contents is not None:
            alone = resource.title if contents is _NAMESPACE else ""
            found.setdefault((contents, alone), []).append(resource.title)
    for (contents, _), titles in found.items():
        more = f" and {len(titles) - _MOST_NAMES} more" if len(titles) > _MOST_NAMES else ""
        lost = f"{', '.join(titles[:_MOST_NAMES])}{more} would be deleted: {contents.reason}"
        if contents.is_cache:
            yield RefusedChange(
                RuleId.CHANGE_DELETES_CONTENTS,
                contents.setting,
                f"{lost}; {contents.advice}" if contents.advice else lost,
                titles[0],
            )
        else:
            yield RefusedChange(
                RuleId.CHANGE_DELETES_DATA,
                contents.setting,
                f"{lost}; {contents.advice}, and then ignore {RuleId.CHANGE_DELETES_DATA} in the settings, with the "
                "reason",
                titles[0],
            )


def _contents(resource: RegisteredResource) -> Store | None:
    if not resource.is_object:
        return store(resource.type)
    kind, spec = resource.inputs.get("kind"), resource.inputs.get("spec")
    if kind == "Namespace":
        return _NAMESPACE
    if kind != CLAIM or not isinstance(spec, Mapping):
        return None
    if spec.get("volumeName") or spec.get("storageClassName") == "":
        # Bound to a volume that somebody created beforehand, and that outlives it.
        return None
    is_ours = _OWN in resource.urn and _WRITTEN not in resource.urn
    return _CLAIM_OF_MODELS if is_ours else _CLAIM_OF_USER


def downloads(base: Snapshot, head: Snapshot, gone: Iterable[str]) -> str:
    """Describe what models download again that read from deleted claims; empty if none does, or if it is unknown.

    Args:
        base: The revision that is deployed.
        head: The proposed revision.
        gone: Titles of the deleted claims.
    """
    lost = frozenset(gone)
    before = {state.title for state in base.workloads if lost.intersection(claims_of(state))}
    amounts: dict[str, tuple[int, int]] = {}
    verdicts = (item for model in head.models for item in model.verdicts.items())
    sizes = {title: shape_facts(verdict.asked.shape) for title, verdict in verdicts if verdict.asked}
    for state in head.workloads:
        weights, layers = sizes.get(state.title, (None, None))
        if state.title not in before or weights is None:
            continue
        body = dict(state.body)
        facts = start_facts(
            body, new_node=False, new_image=False, weights=weights, devices=state.accelerators, layers=layers
        )
        steps = steps_of(facts._replace(weights_from=WeightsFrom.HUB))
        seconds = next((step.seconds or 0 for step in steps if step.name == "download"), 0)
        amounts[state.title] = weights, seconds
    if not amounts:
        return ""
    number, total = len(amounts), sum(weights for weights, _ in amounts.values()) / GIB
    longest = about(max(seconds for _, seconds in amounts.values()))
    subject = "1 model downloads" if number == 1 else f"{number} models download"
    each = "" if number == 1 else " at most"
    return f"{subject} {total:,.1f} GiB again, which takes{each} {longest} before it serves"


def with_downloads(
    refused: Iterable[RefusedChange], base: Snapshot, head: Snapshot, changes: Iterable[ResourceChange]
) -> list[RefusedChange]:
    """Return the changes, those of caches with what models download again, and of namespaces only those of models.

    Namespaces of charts have nothing of the user.
    """
    again = downloads(base, head, (change.title for change in changes if change.kind in _GONE))
    served = {f"Namespace {state.namespace}" for state in base.workloads}
    found = []
    for change in refused:
        if change.rule is RuleId.CHANGE_DELETES_CONTENTS:
            if change.setting != _NAMESPACE.setting:
                change = change._replace(reason="; ".join(filter(None, (change.reason, again))))
            elif change.resource not in served:
                continue
        found.append(change)
    return found


def claims_of(workload: WorkloadState) -> Iterator[str]:
    """Yield the titles of the claims that the pods of a workload mount."""
    for template in pod_templates(dict(workload.body)):
        for volume in template.body["spec"].get("volumes") or ():
            name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if name:
                yield f"{CLAIM} {workload.namespace}/{name}"
