"""Imports objects that existed before the stack, instead of creating them."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pulumi

from components.contract.tables import load_table
from components.fleet.objects import Object
from components.fleet.rendered import Rendered
from components.fleet.workloads import PATCH_FORCE
from components.plan.plan import Plan
from components.plan.timeouts.objects import WAIT_FOR

from .adopted_settings import AdoptedSettings
from .stack_file import StackFile


class Imports:
    """The options with which the adopted objects among the resources of a stack are registered.

    Once an object is imported, they have no effect, except that its replacement is rejected and ``retain_on_delete``
    stays.
    """

    def __init__(self, adopted: AdoptedSettings) -> None:
        self._adopted = adopted
        self._names = frozenset(adopted.objects)
        self._left = dict.fromkeys(adopted.objects)

    @property
    def transformations(self) -> list[pulumi.ResourceTransformation]:
        """The transformation of a component with such objects; none without objects."""
        return [self._transform] if self._names else []

    def warn_about_unused(self, file: StackFile) -> None:
        """Log the names that no object of the stack has."""
        if self._left:
            reason = f"{', '.join(self._left)}: not among the objects of this stack; correct the name, or remove it"
            pulumi.log.warn(file.message("adopted.objects", reason))

    def _transform(self, args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        props: dict[str, Any] = {**args.props}
        if not args.type_.startswith("kubernetes:") or not isinstance(props.get("metadata"), dict):
            return None
        name = adopted_name(props)
        if name not in self._names:
            return None
        self._left.pop(name, None)
        props["metadata"] = _as_it_runs(props["metadata"])
        parts = (props["metadata"].get("namespace"), props["metadata"]["name"])
        options = pulumi.ResourceOptions(
            import_="/".join(part for part in parts if part),
            retain_on_delete=self._adopted.retain or None,
            ignore_changes=_undeclared(name, props),
        )
        return pulumi.ResourceTransformationResult(props, pulumi.ResourceOptions.merge(args.opts, options))


def _as_it_runs(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata without the annotations for the provider that a fleet adds: an import shows no change.

    The provider takes fields from others even without (enablePatchForce).
    """
    annotations = dict(metadata.get("annotations") or {})
    for name in (PATCH_FORCE, WAIT_FOR):
        annotations.pop(name, None)
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**rest, "annotations": annotations} if annotations else rest


def without_omitted(planned: Plan, adopted: AdoptedSettings) -> Plan:
    """Return a plan without the objects that did not exist before the adoption, and the endpoints at them."""
    omitted = frozenset(adopted.omitted)
    if not omitted:
        return planned

    def kept(body: Object | None) -> bool:
        return body is None or adopted_name(body) not in omitted

    def reduced(item: Rendered) -> Rendered:
        return replace(
            item,
            endpoints=tuple(endpoint for endpoint in item.endpoints if kept(endpoint.body)),
            autoscalers=tuple(scaler for scaler in item.autoscalers if kept(scaler.body)),
            others=tuple(filter(kept, item.others)),
            shared=tuple(filter(kept, item.shared)),
        )

    fleet = replace(planned.fleet, rendered=tuple(map(reduced, planned.fleet.rendered)))
    return replace(planned, fleet=fleet, monitoring=tuple(filter(kept, planned.monitoring)))


def adopted_name(body: Mapping[str, Any]) -> str:
    """Return the name of an object in the setting ``adopted.objects``."""
    metadata = body["metadata"]
    group = str(body.get("apiVersion", "")).rpartition("/")[0] or "core"
    parts = (group, body.get("kind"), metadata.get("namespace"), metadata.get("name"))
    return "/".join(str(part) for part in parts if part)


def _undeclared(name: str, props: Mapping[str, Any]) -> list[str] | None:
    """Return the fields of an object that only the server sets, and that are not compared."""
    group, kind = name.split("/")[:2]
    spec = props.get("spec")
    declared = spec if isinstance(spec, dict) else {}
    ignored = [
        path
        for path in _set_by_server().get(f"{group}/{kind}", ())
        if path.endswith("Templates") or path.removeprefix("spec.") not in declared
    ]
    return ignored or None


@functools.cache
def _set_by_server() -> Mapping[str, list[str]]:
    table: Mapping[str, list[str]] = load_table(__package__, "adopting.yaml")
    return table
