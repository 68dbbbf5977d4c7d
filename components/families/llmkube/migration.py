"""Conversions between releases of LLMKube. Its releases add fields; few change the form of others."""

from collections.abc import Iterator
from typing import Any

from ..migration import Batch, MigratedDocument, ReleaseStep

_HUB = "hf://"
_FIELD = "spec.speculativeDecoding"
_OLDER_NAMES = {"none": "disabled", "draft-mtp": "mtp"}
"""Names of methods up to v0.9.17, by those since v0.9.18, which keeps the older ones."""
_OLDER = ("mtp", "draft", "disabled")


def _speculating(batch: Batch) -> Iterator[tuple[MigratedDocument, Any]]:
    for document in batch.of_kind("InferenceService"):
        spec = document.value.get("spec") or {}
        if isinstance(spec.get("speculativeDecoding"), dict):
            yield document, spec


def _require_weights(batch: Batch) -> None:
    """Up to v0.9.14 the type ``draft`` has no field for its weights; since v0.9.15 it is refused without them."""
    for document, spec in _speculating(batch):
        block = spec["speculativeDecoding"]
        if block.get("type") == "draft" and not (block.get("draftModelRef") or block.get("draftModel")):
            batch.loss(document, _FIELD, "later releases need the weights of the type draft; set draftModelRef")
            del spec["speculativeDecoding"]


def _use_older_names(batch: Batch) -> None:
    """Up to v0.9.17 there are three methods, none of which has weights of its own."""
    for document, spec in _speculating(batch):
        block = spec["speculativeDecoding"]
        method = _OLDER_NAMES.get(block.get("type"), block.get("type"))
        if method not in _OLDER or method == "draft":
            batch.loss(document, _FIELD, f"earlier releases do not have the type {block.get('type')}")
            del spec["speculativeDecoding"]
        elif method != block["type"]:
            batch.note(document, f"{_FIELD}.type", f"is {method} now, as earlier releases call {block['type']}")
            block["type"] = method


def _remove_scheme(batch: Batch) -> None:
    """Up to v0.8.17 a repository of the hub has no scheme, no revision and no list of files."""
    for document in batch.of_kind("Model"):
        spec = document.value.get("spec") or {}
        source = spec.get("source")
        if isinstance(source, str) and source.startswith(_HUB) and "@" not in source and not spec.get("files"):
            spec["source"] = source.removeprefix(_HUB)
            batch.note(
                document, "spec.source", "has no scheme now, as earlier releases name repositories without one"
            )


def _resource_names(batch: Batch) -> Iterator[Any]:
    for document in batch.of_kind("Model"):
        spec = document.value.get("spec") or {}
        gpu = (spec.get("hardware") or {}).get("gpu") or {}
        if isinstance(gpu, dict) and gpu.get("resourceName") is not None:
            yield gpu


def _add_empty_claims(batch: Batch) -> None:
    """v0.8.9 accepts ``resourceName`` beside an empty list of claims only."""
    for gpu in _resource_names(batch):
        gpu.setdefault("resourceClaims", [])


def _remove_empty_claims(batch: Batch) -> None:
    for gpu in _resource_names(batch):
        if gpu.get("resourceClaims") == []:
            del gpu["resourceClaims"]


def _keep(_batch: Batch) -> None:
    """Change nothing: the other release accepts the form."""


STEPS: tuple[ReleaseStep, ...] = (
    ReleaseStep("v0.8.8", "v0.8.9", _add_empty_claims, _remove_empty_claims),
    ReleaseStep("v0.8.9", "v0.8.10", _remove_empty_claims, _add_empty_claims),
    ReleaseStep("v0.8.17", "v0.8.18", _keep, _remove_scheme),
    ReleaseStep("v0.9.14", "v0.9.15", _require_weights, _keep),
    ReleaseStep("v0.9.17", "v0.9.18", _keep, _use_older_names),
)
