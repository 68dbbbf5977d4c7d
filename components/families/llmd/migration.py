"""Convert VariantAutoscalings between releases.

Sources: WVA spec 13, and docs/developer-guide/migrating-from-va-crd.md of the project at v0.9.0. Each function leaves
a manifest alone that is in the form of its target already. What goes with a form is a loss with its reason; a field
that a release merely lacks is reported by the comparison with the target.
"""

import re
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal

from ...engines.command_line import command_line_of
from ...engines.settings import Setting
from ...performance.sizing.accelerators import known_accelerator
from ...performance.sizing.reference import reference_profiles
from ..migration import Batch, Fields, MigratedDocument, ReleaseStep, inserted, renamed
from .checks.variant_costs import DEFAULT_COST
from .names import ACCELERATOR_LABEL, CLASSES
from .saturation import MAX_REPLICAS
from .successors import API_VERSIONS, scalers_of, to_annotations, to_variants
from .types import DEFAULT_BOUNDS

_KIND = "VariantAutoscaling"
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_PLACEHOLDER = {"name": CLASSES, "key": "premium.yaml"}
"""A reference to a service class, as in upstream's samples: nothing reads it."""


def steps() -> tuple[ReleaseStep, ...]:
    """Return the conversions, oldest first."""
    return (
        ReleaseStep("c0f645c", "v0.0.1", _each(_to_parameters), _each(_to_line)),
        ReleaseStep("v0.0.4", "v0.0.5", _each(_to_cost), _each(_to_class)),
        ReleaseStep("v0.0.5", "v0.4.1", _each(_without_class), lambda _: None),
        ReleaseStep("v0.4.2", "v0.5.0", _each(_to_target), _each(_to_own_name)),
        ReleaseStep("v0.5.1", "v0.6.0", _each(_to_bounds), _each(_without_bounds)),
        ReleaseStep("4bbb15fa", "v0.9.0", _each(to_annotations), to_variants),
    )


def _each(convert: Callable[[Batch, MigratedDocument, Fields], None]) -> Callable[[Batch], None]:
    """Return a conversion of every VariantAutoscaling with a spec."""

    def converted(batch: Batch) -> None:
        for document in batch.of_kind(_KIND):
            spec = document.value.get("spec")
            if isinstance(spec, dict):
                convert(batch, document, spec)

    return converted


# -- v0.0.1: perfParms in place of alpha and beta


def _to_parameters(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    for index, entry in _entries(spec):
        if "perfParms" in entry or "alpha" not in entry or "beta" not in entry:
            continue
        new = type(entry)
        decode, prefill, parameters = new(), new(), new()
        for key in ("alpha", "beta"):
            decode[key] = entry[key]
        prefill.update(gamma="0", delta="0")
        parameters.update(decodeParms=decode, prefillParms=prefill)
        position = min(list(entry).index(key) for key in decode)
        for key in decode:
            del entry[key]
        inserted(entry, min(position, len(entry)), "perfParms", parameters)
        batch.note(
            document,
            f"spec.modelProfile.accelerators[{index}].perfParms.prefillParms",
            "gamma and delta are 0, which leaves the prefill out, as before; measure them, and set inputTokens of "
            "the load",
        )
    load = _at(document.value, "status", "currentAlloc", "load")
    if load is not None and "avgLength" in load:
        renamed(load, "avgLength", "avgOutputTokens")
        inserted(load, list(load).index("avgOutputTokens"), "avgInputTokens", "0.00")
        renamed(document.value["status"]["currentAlloc"], "waitAverage", "ttftAverage")


def _to_line(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    for index, entry in _entries(spec):
        parameters, path = entry.get("perfParms"), f"spec.modelProfile.accelerators[{index}].perfParms"
        decode, prefill = (_at(parameters, name) or {} for name in ("decodeParms", "prefillParms"))
        numbers = {key: _decimal(decode.get(key)) for key in ("alpha", "beta")}
        if parameters is None or None in numbers.values():
            continue
        for name, given, keys in (
            ("decodeParms", decode, ("alpha", "beta")),
            ("prefillParms", prefill, ("gamma", "delta")),
        ):
            for key, value in given.items():
                if key not in keys or (name == "prefillParms" and str(value) != "0"):
                    batch.loss(document, f"{path}.{name}.{key}", f"{value} has no place: c0f645c has no prefill")
        position = list(entry).index("perfParms")
        for offset, (key, number) in enumerate(numbers.items()):
            inserted(entry, position + offset, key, decode[key])
            if number != str(decode[key]):
                entry[key] = number
                batch.loss(document, f"{path}.decodeParms.{key}", f"{decode[key]} is written as {number}")
        del entry["perfParms"]
    load = _at(document.value, "status", "currentAlloc", "load")
    if load is not None and "avgOutputTokens" in load:
        prompt = load.pop("avgInputTokens", "0.00")
        if prompt != "0.00":
            batch.loss(document, "status.currentAlloc.load.avgInputTokens", f"{prompt}: c0f645c counts answers only")
        renamed(load, "avgOutputTokens", "avgLength")
        renamed(document.value["status"]["currentAlloc"], "ttftAverage", "waitAverage")


def _decimal(text: object) -> str | None:
    """Return a number without exponent and sign; None for what is none."""
    if not isinstance(text, str):
        return None
    if _DECIMAL.fullmatch(text):
        return str(text)
    try:
        number = Decimal(text)
    except ArithmeticError:
        return None
    return f"{number:f}" if number.is_finite() and not number.is_signed() else None


# -- v0.0.5: a cost, and a service class that need not be there


def _to_cost(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    if "variantCost" in spec or "modelProfile" not in spec:
        return
    cost = _price(batch, document, spec)
    if cost is None:
        batch.note(
            document,
            "spec.variantCost",
            "is unknown, because the price table has no price for the accelerator: set it where a model has several "
            f"variants, of which the controller adds the cheapest first (default: {DEFAULT_COST})",
        )
        return
    spec["variantCost"] = cost
    batch.note(document, "spec.variantCost", f"{cost} cents an hour of a replica on demand, of the price table")


def _to_class(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    if "modelProfile" not in spec:
        _derive_profile(batch, document, spec)
    price = _price(batch, document, spec)
    if "variantCost" in spec and spec["variantCost"] == price:
        del spec["variantCost"]
    elif "variantCost" not in spec and price is not None:
        reason = f"the default, {DEFAULT_COST}, has no place up to v0.0.4, where the price is {price}"
        batch.loss(document, "spec.variantCost", reason)
    if "sloClassRef" not in spec:
        reference = type(spec)()
        reference.update(_PLACEHOLDER)
        inserted(spec, min(1, len(spec)), "sloClassRef", reference)
        reason = "is required up to v0.0.4, though nothing reads it: a placeholder is written"
        batch.loss(document, "spec.sloClassRef", reason)


def _derive_profile(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    """Add the profile that releases up to v0.0.4 require: published figures, and the workload's GPUs and batch."""
    name = str((_at(document.value, "metadata", "labels") or {}).get(ACCELERATOR_LABEL, ""))
    known = known_accelerator(name)
    published = [
        item.profile
        for item in reference_profiles(str(spec.get("modelID", "")))
        if known is not None and known_accelerator(item.profile.accelerator) == known
    ]
    if not published:
        return  # a field that is required is missing, so that the object is left out
    containers = list(_containers(batch, document))
    count = sum(_gpus(container) for container in containers)
    profile = next((each for each in published if each.count == count), published[0])
    sizes = (command_line_of(container).number_of(Setting.CONCURRENCY) for container in containers)
    entry = {
        "acc": name,
        "accCount": count or profile.count,
        "perfParms": {
            "decodeParms": {"alpha": str(profile.alpha), "beta": str(profile.beta)},
            "prefillParms": {"gamma": "0", "delta": "0"},
        },
        "maxBatchSize": next(filter(None, sizes), profile.batch),
    }
    spec["modelProfile"] = {"accelerators": [entry]}
    reason = "is required up to v0.0.4: published figures of the model are written, which are rough; measure them"
    batch.loss(document, "spec.modelProfile", reason)


def _containers(batch: Batch, document: MigratedDocument) -> Iterator[Fields]:
    """Yield the containers of the workload with the name of a VariantAutoscaling."""
    for other in batch.others:
        if (other.name, other.namespace) == (document.name, document.namespace) and other.kind in API_VERSIONS:
            spec = _at(other.value, "spec") or {}
            group = _at(spec, "leaderWorkerTemplate") or {}
            template = _at(spec, "template") or _at(group, "leaderTemplate") or _at(group, "workerTemplate")
            containers = (_at(template, "spec") or {}).get("containers")
            yield from (each for each in containers or () if isinstance(each, dict))


def _gpus(container: Fields) -> int:
    limits = _at(container, "resources", "limits") or {}
    counts = [str(count) for name, count in limits.items() if str(name).endswith("/gpu")]
    return sum(int(count) for count in counts if count.isdecimal())


def _without_class(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    reference = spec.pop("sloClassRef", None)
    if reference is not None:
        key = f"{reference.get('name')}/{reference.get('key')}"
        reason = f"{key} has no place from v0.4.1 on; nothing read it: the class is found by the model"
        batch.loss(document, "spec.sloClassRef", reason)


def _price(batch: Batch, document: MigratedDocument, spec: Fields) -> str | None:
    """Return the price of a replica on the accelerator of the label, in cents an hour; None if it is unknown."""
    name = str((_at(document.value, "metadata", "labels") or {}).get(ACCELERATOR_LABEL, ""))
    counts = [entry.get("accCount") for _, entry in _entries(spec) if entry.get("acc") == name]
    known, count = known_accelerator(name), next((count for count in counts if isinstance(count, int)), 0)
    units = count * known.count if known else 0
    node = known.cheapest(units) if known and units else None
    price = (batch.stacks.price(node.name) or node.usd_per_hour) if node else None
    if node is None or price is None:
        return None
    cents = Decimal(str(price)) * 100 * units / node.accelerators
    return f"{cents.quantize(Decimal('0.01'), ROUND_HALF_UP):f}"


# -- v0.5.0: a reference in place of the same name, and no profile


def _to_target(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    if "scaleTargetRef" not in spec:
        reference = type(spec)()
        reference.update(_target(batch, document))
        inserted(spec, 0, "scaleTargetRef", reference)
    if spec.pop("modelProfile", None) is not None:
        # What was written about the profile on the way here is lost with it.
        batch.notes[:] = [
            note for note in batch.notes if (note.title, note.path[:18]) != (document.title, "spec.modelProfile.")
        ]
        batch.loss(
            document,
            "spec.modelProfile",
            "has no place from v0.5.0 on: replicas are not computed from latency targets any more, but follow KV "
            f"cache and queue, between 1 and {MAX_REPLICAS} replicas where nothing sets bounds",
        )
    status = _at(document.value, "status")
    if status is not None and status.pop("currentAlloc", None) is not None:
        batch.loss(document, "status.currentAlloc", "has no place from v0.5.0 on: the load is not in the status")


def _to_own_name(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    reference = spec.pop("scaleTargetRef", None)
    if not isinstance(reference, dict):
        return
    name = str(reference.get("name", ""))
    if name and name != document.name:
        batch.loss(
            document,
            "spec.scaleTargetRef.name",
            f"up to v0.4.2 a VariantAutoscaling has the name of its workload, so it is renamed to {name}, also in "
            "serviceLevels.loads",
        )
        document.value["metadata"]["name"] = name
    wanted = _target(batch, document)
    for field in ("kind", "apiVersion"):
        if reference.get(field) != wanted[field]:
            reason = (
                f"{reference.get(field)} has no place up to v0.4.2, which takes the workload for a {wanted['kind']}"
            )
            batch.loss(document, f"spec.scaleTargetRef.{field}", reason)


def _target(batch: Batch, document: MigratedDocument) -> dict[str, str]:
    """Return the workload with the name of a VariantAutoscaling: a Deployment unless another one is known."""
    same = (
        other.kind for other in batch.others if (other.name, other.namespace) == (document.name, document.namespace)
    )
    kind = next((kind for kind in same if kind in API_VERSIONS), "Deployment")
    return {"apiVersion": API_VERSIONS[kind], "kind": kind, "name": document.name}


# -- v0.6.0: bounds of its own


def _to_bounds(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    if "minReplicas" in spec or "maxReplicas" in spec:
        return
    bounds = _known_bounds(batch, document, spec)
    most = bounds["maxReplicas"]
    without = f"without it the upper bound would be {DEFAULT_BOUNDS[1]}"
    if scalers_of(batch, document, spec):
        reason = f"{most}, as in the autoscaler of the workload; {without}"
    elif (planned := batch.stacks.scaling(document)) is not None:
        bounds = {"minReplicas": planned.least, "maxReplicas": planned.most}
        most = planned.most
        reason = (
            f"{planned.least} to {most} replicas are what the stacks plan now; no latency target changes them later"
        )
    else:
        reason = f"{most}, because nothing sets a bound; raise or lower it: {without}"
    spec.update(bounds)
    batch.note(document, "spec.maxReplicas", reason)


def _without_bounds(batch: Batch, document: MigratedDocument, spec: Fields) -> None:
    known = _known_bounds(batch, document, spec)
    written = {key: spec.pop(key) for key in ("minReplicas", "maxReplicas") if key in spec}
    if written == known:
        return
    for key, value in (written or dict(zip(("minReplicas", "maxReplicas"), DEFAULT_BOUNDS, strict=True))).items():
        batch.loss(document, f"spec.{key}", f"{value} has no place up to v0.5.1: set it in the autoscaler")


def _known_bounds(batch: Batch, document: MigratedDocument, spec: Fields) -> dict[str, int]:
    """Return the bounds of the autoscaler of the same workload, or else upstream's upper bound."""
    for _, scaler in scalers_of(batch, document, spec):
        found = {"minReplicas": scaler.least, "maxReplicas": scaler.most}
        return {key: value for key, value in found.items() if value is not None}
    return {"maxReplicas": MAX_REPLICAS}


# -- maps of documents


def _entries(spec: Fields) -> Iterator[tuple[int, Fields]]:
    entries = (_at(spec, "modelProfile") or {}).get("accelerators")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict):
            yield index, entry


def _at(value: object, *path: str) -> Fields | None:
    """Return a map inside a document; None if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None
