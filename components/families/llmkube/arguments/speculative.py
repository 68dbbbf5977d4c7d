"""vLLM's speculative decoding: the draft model is a Model of the same namespace."""

import json

from ....contract.findings.collector import unknown_reference
from ....contract.findings.ids import RuleId
from ....engines.settings import Setting
from ..serving import Serving
from .line import Line

_PATH = "spec.vllmConfig.speculative"
_CLAIM = "pvc://"
_MOUNT = "/model-source/"
"""Where the claim of the served Model is mounted (LLMKube spec 3.3)."""


def add_speculative(serving: Serving, line: Line) -> None:
    """Add the draft model as the version takes it: two flags, or one JSON option that replaced them."""
    config = serving.service.spec.vllm_config
    speculative = config.speculative if config else None
    if speculative is None:
        return
    if not speculative.enabled:
        if speculative.model and speculative.enabled is None:
            serving.findings.warn(
                f"{_PATH}.model",
                "has no effect without enabled: true; set it, or remove this",
                RuleId.FIELD_NO_EFFECT,
            )
        return
    if not speculative.model:
        reason = "speculative decoding is omitted, because there is no draft; name a Model in this namespace"
        serving.findings.warn(f"{_PATH}.model", reason, RuleId.FIELD_NO_EFFECT)
        return
    draft = _draft(serving, speculative.model)
    if draft is None:
        return
    tokens = speculative.num_speculative_tokens
    if line.knows(Setting.DRAFT_MODEL):
        line.add(Setting.DRAFT_MODEL, draft, _PATH)
        line.add(Setting.DRAFT_TOKENS, tokens, _PATH)
    else:
        value = json.dumps({"model": draft, "num_speculative_tokens": tokens})
        line.add(Setting.SPECULATION, value, _PATH)


def _draft(serving: Serving, name: str) -> str | None:
    """Return what vLLM loads for a draft: a repository, or a path in the container; None after an error."""
    path = f"{_PATH}.model"
    model = serving.models.get(name)
    if model is None:
        serving.findings.error(
            path,
            unknown_reference("Model", name, serving.models, "add one to this namespace"),
            RuleId.REFERENCE_MISSING,
        )
        return None
    source = model.spec.source
    if "://" not in source:
        return source
    mounted = _same_claim(serving, source)
    if mounted:
        return mounted
    if source.startswith("file://"):
        return source.removeprefix("file://")
    serving.findings.error(
        path,
        f"Model {name!r} comes from {source!r}, but only the served Model is fetched into the pod; use a Hugging "
        "Face repository such as org/name, or a path in the image",
        RuleId.WEIGHTS_UNREACHABLE,
    )
    return None


def _same_claim(serving: Serving, source: str) -> str | None:
    """Return the path of a draft in the claim that is mounted for the served Model; None where it is in no such."""
    served = serving.model.spec.source
    claim, _, file = source.removeprefix(_CLAIM).partition("/")
    if not source.startswith(_CLAIM) or not serving.model_path.startswith(_MOUNT):
        return None
    return _MOUNT + file if served.removeprefix(_CLAIM).partition("/")[0] == claim else None
