"""A VariantAutoscaling with what it is about: the workload of its name, its accelerator and its service class."""

from dataclasses import dataclass

from ...api.findings import Findings
from ...api.load import Loaded
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...fleet.workloads import Workload
from .types import VariantAutoscaling


@dataclass(frozen=True, slots=True)
class Variant:
    """A VariantAutoscaling among the resources of a fleet.

    Attributes:
        item: The resource that makes the workload.
        workload: What is scaled.
    """

    source: Loaded
    resource: VariantAutoscaling
    namespace: str
    item: Rendered
    workload: Workload
    options: Options
    findings: Findings


def found_variant(source: Loaded, library: Library, options: Options, findings: Findings) -> Variant:
    """Find the workload of a VariantAutoscaling: it has its name and namespace (WVA spec 5).

    Raises:
        Unrenderable: there is none; that is in ``findings``.
    """
    resource = source.resource
    assert isinstance(resource, VariantAutoscaling)  # noqa: S101  the caller chose this function by kind
    namespace = resource.metadata.namespace or options.namespace
    found = library.workload(namespace, source.name)
    if found is None:
        raise findings.fail("metadata.name", f"no workload named {source.name!r} in namespace {namespace!r}")
    return Variant(source, resource, namespace, *found, options, findings)
