"""In which service class the model of a variant is, and whether the resource says so (WVA spec 4, 5)."""

import json

from ....contract.findings.collector import Findings
from ....contract.findings.ids import RuleId
from ....contract.problems import did_you_mean
from ....fleet.levels import ServiceClass, ServiceLevels
from ..controller.config_maps import class_key
from ..names import CLASSES
from ..types.variant_autoscaling import VariantAutoscalingSpec

LEVELS = "serviceLevels"
"""Section of the settings."""
_MODEL = "spec.modelID"
_MOST_NAMES = 8


def promising_class(model: str, levels: ServiceLevels, findings: Findings) -> ServiceClass | None:
    """Return the service class with a model, which must be in exactly one; None after an error."""
    found = levels.classes_of(model)
    if len(found) == 1:
        return found[0]
    if not found:
        known = sorted({name for each in levels.classes for name in each.promises})
        there = f" (there are {_shown(known)})" if known else ""
        name = levels.classes[0].name if levels.classes else "Premium"
        findings.error(
            _MODEL,
            f"{model!r} is in no service class{did_you_mean(model, known)}{there}; nothing is promised for it, so "
            f"that no number of replicas follows; add it to the settings, such as {LEVELS}: "
            f'{{classes: [{{name: "{name}", models: {{{_quoted(model)}: {{itlMs: 24, ttftMs: 500}}}}}}]}}',
            RuleId.SIZING_UNDETERMINED,
        )
        return None
    promised = ", ".join(
        f"{each.name!r} (itlMs {each.promises[model].itl_ms}, ttftMs {each.promises[model].ttft_ms})"
        for each in found
    )
    findings.error(
        _MODEL,
        f"{model!r} is in {len(found)} service classes, {promised}, and which one counts is not said: the controller "
        f"takes whichever it happens to read first; leave it in one class of {LEVELS}.classes",
        RuleId.SIZING_CONFLICT,
    )
    return None


def check_class_ref(spec: VariantAutoscalingSpec, in_class: ServiceClass, findings: Findings) -> None:
    """Warn of a reference to another class than the one that counts: the controller never reads it (WVA spec 2)."""
    written = spec.slo_class_ref
    for field, value, wanted in (
        ("name", written.name, CLASSES),
        ("key", written.key, class_key(in_class.name)),
    ):
        if value != wanted:
            findings.warn(
                f"spec.sloClassRef.{field}",
                f"{value!r} has no effect: what counts is that {LEVELS}.classes has "
                f"{spec.model_id!r} in {in_class.name!r}; write {wanted!r}, where that is found",
                RuleId.FIELD_NO_EFFECT,
            )


def _quoted(text: str) -> str:
    """Return a text as a key of YAML that nobody takes for anything else."""
    return json.dumps(text, ensure_ascii=False)


def _shown(names: list[str]) -> str:
    """Return the first of some names."""
    more = f" and {len(names) - _MOST_NAMES} others" if len(names) > _MOST_NAMES else ""
    return ", ".join(map(repr, names[:_MOST_NAMES])) + more
