"""The service class of a variant's model, and the reference to it in the resource (WVA spec 4, 5)."""

import json

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.problems import did_you_mean
from ....fleet.levels import ServiceClass, ServiceLevels
from ..controller.config_maps import class_key
from ..names import CLASSES
from ..types import VariantAutoscalingSpec

LEVELS = "serviceLevels"
"""Section of the settings."""
_MODEL = "spec.modelID"
_MAX_NAMES = 8
"""Model names that a message lists."""


def service_class(model: str, levels: ServiceLevels, findings: Findings) -> ServiceClass | None:
    """Return the service class of a model, which must be in exactly one; None after an error."""
    classes = levels.classes_of(model)
    if len(classes) == 1:
        return classes[0]
    if not classes:
        known = sorted({name for service_class in levels.classes for name in service_class.targets})
        more = f" and {len(known) - _MAX_NAMES} others" if len(known) > _MAX_NAMES else ""
        names = f" (there are {', '.join(map(repr, known[:_MAX_NAMES]))}{more})" if known else ""
        name = levels.classes[0].name if levels.classes else "Premium"
        # JSON's quotes are those of YAML: no reader takes the name for anything but a string.
        key = json.dumps(model, ensure_ascii=False)
        findings.error(
            _MODEL,
            f"{model!r} is in no service class{did_you_mean(model, known)}{names}, so there is no target to size it "
            f'for; add it to the settings, such as {LEVELS}: {{classes: [{{name: "{name}", models: '
            f"{{{key}: {{itlMs: 24, ttftMs: 500}}}}}}]}}",
            RuleId.SIZING_UNDETERMINED,
        )
        return None
    found = []
    for known_class in classes:
        targets = known_class.targets[model]
        found.append(f"{known_class.name!r} (itlMs {targets.itl_ms}, ttftMs {targets.ttft_ms})")
    findings.error(
        _MODEL,
        f"{model!r} is in {len(classes)} service classes, {', '.join(found)}, and the controller uses whichever it "
        f"reads first; leave it in one class of {LEVELS}.classes",
        RuleId.SIZING_CONFLICT,
    )
    return None


def check_class_ref(spec: VariantAutoscalingSpec, in_class: ServiceClass, findings: Findings) -> None:
    """Warn of a reference to a class other than the model's: the controller never reads it (WVA spec 2)."""
    reference = spec.slo_class_ref
    if reference is None:
        return
    for field, value, expected in (
        ("name", reference.name, CLASSES),
        ("key", reference.key, class_key(in_class.name)),
    ):
        if value != expected:
            findings.warn(
                f"spec.sloClassRef.{field}",
                f"{value!r} has no effect: {LEVELS}.classes has {spec.model_id!r} in {in_class.name!r}, and that "
                f"class applies; write {expected!r}",
                RuleId.FIELD_NO_EFFECT,
            )
