"""Settings of all pods, checked as the API server checks the fields of a pod that they become."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, WithJsonSchema

from ...contract.base import Violation, combined_error
from ...contract.names import is_dns1123_subdomain, is_label_value, is_qualified_name
from ...contract.schema.embedded import Tolerations
from ..section import Section

Value = TypeVar("Value")
_OPERATORS = ("Exists", "Equal", "Lt", "Gt")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_KEY = "must be a name (letters, digits, '-', '_', '.', at most 63) with an optional DNS prefix and '/', found {!r}"


def _object_name(name: str) -> str:
    if not is_dns1123_subdomain(name):
        raise ValueError("must be the name of an object (lower-case letters, digits, '-', '.')")
    return name


def _checked(broken: Callable[[Value], Iterator[Violation]]) -> AfterValidator:
    """Return a validator that raises everything that a check finds."""

    def check(value: Value) -> Value:
        if problems := list(broken(value)):
            raise combined_error(problems)
        return value

    return AfterValidator(check)


def _labels_broken(labels: dict[str, str]) -> Iterator[Violation]:
    for key, value in labels.items():
        if not is_qualified_name(key):
            yield (key,), _KEY.format(key)
        if not is_label_value(value):
            yield (key,), f"must be a label value (at most 63 letters, digits, '-', '_', '.'), found {value!r}"


def _annotations_broken(annotations: dict[str, str]) -> Iterator[Violation]:
    for key in annotations:
        if not is_qualified_name(key.lower()):
            yield (key,), _KEY.format(key)


def _tolerations_broken(tolerations: list[dict[str, Any]]) -> Iterator[Violation]:
    """Check what the API server refuses (kubernetes v1.36.3, pkg/apis/core/validation, ValidateTolerations)."""
    for index, toleration in enumerate(tolerations):
        key = toleration.get("key", "")
        operator = toleration.get("operator") or "Equal"
        effect = toleration.get("effect", "")
        if key and not is_qualified_name(key):
            yield (index, "key"), _KEY.format(key)
        if not key and operator != "Exists":
            yield (index, "operator"), "must be Exists without a key; set key, or operator: Exists"
        if operator not in _OPERATORS:
            yield (index, "operator"), f"must be one of {', '.join(_OPERATORS)}, found {operator!r}"
        if operator == "Exists" and toleration.get("value"):
            yield (index, "value"), "must be empty with operator Exists; remove it, or use operator Equal"
        if effect and effect not in _EFFECTS:
            yield (index, "effect"), f"must be one of {', '.join(_EFFECTS)} or empty, found {effect!r}"
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            yield (index, "effect"), "must be NoExecute with tolerationSeconds; set it, or remove tolerationSeconds"


ObjectName = Annotated[
    str,
    AfterValidator(_object_name),
    WithJsonSchema({"type": "string", "pattern": r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$", "maxLength": 253}),
]
Labels = Annotated[dict[str, str], _checked(_labels_broken)]
Annotations = Annotated[dict[str, str], _checked(_annotations_broken)]
PodTolerations = Annotated[
    Tolerations,
    _checked(_tolerations_broken),
    WithJsonSchema({"type": "array", "items": {"type": "object", "additionalProperties": True}}),
]


class Pods(Section):
    """Settings of every pod in this environment."""

    tolerations: PodTolerations = Field(default_factory=list)
    """Tolerations to add."""
    service_account_name: ObjectName | None = None
    """Service account. Default: model-loader if pods read buckets, otherwise the namespace's default."""
    image_pull_secrets: list[ObjectName] = Field(default_factory=list)
    """Names of Secrets with registry credentials."""
    priority_class_name: ObjectName | None = None
    """Priority class."""
    annotations: Annotations = Field(default_factory=dict)
    """Annotations to add."""
    labels: Labels = Field(default_factory=dict)
    """Labels to add."""
    node_selector: Labels = Field(default_factory=dict)
    """Node labels that every pod selects."""
