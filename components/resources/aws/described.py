"""What arguments and settings describe because the tables do not have it: instance types and Kubernetes versions."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from ...clouds.aws.facts.eks import EksVersion
from ...contract.problems import field_path
from ...fleet.instances import Instance
from ...plan.faults import faults
from ...plan.section import Section
from ...plan.sections.instance_types import InstanceTypes, described_types
from .argument_problems import Problems
from .cluster_settings import KubernetesVersions


class _Described(Section):
    instance_types: InstanceTypes = Field(default_factory=dict)
    kubernetes_versions: KubernetesVersions = Field(default_factory=dict)


def _read(args: Mapping[str, Any]) -> _Described:
    values = {key: args[key] for key in _Described.model_fields if key in args}
    return _Described.model_validate(values, by_name=True, by_alias=False)


def described_problems(args: Mapping[str, Any]) -> Problems:
    """Yield what is wrong with the descriptions in arguments."""
    try:
        _read(args)
    except ValidationError as error:
        # The type of the arguments has already reported unknown keys.
        wrong = faults(error, _Described, by_name=True)
        yield from ((field_path(fault.path), fault.reason) for fault in wrong if not fault.unknown)


def types_in(args: Mapping[str, Any]) -> dict[str, Instance]:
    """Return the instance types that arguments describe; none if ``described_problems`` finds something."""
    try:
        return described_types(_read(args).instance_types)
    except ValidationError:
        return {}


def version_in(args: Mapping[str, Any]) -> EksVersion | None:
    """Return what arguments say of the Kubernetes version; None if they do not describe it, or not correctly."""
    version = args.get("version", "")
    try:
        described = _read(args).kubernetes_versions.get(version)
    except ValidationError:
        return None
    return described.facts(version) if described else None
