# ruff: noqa: E501 - tables of values
"""Defaults of InferenceServices and Models, as they are stored and as attributes."""

from typing import Any

import pytest

from components.contract.schema.defaults import with_defaults
from components.families.llmkube.types.inference_service import InferenceService, Model
from tests.contract.changing import changed
from tests.families.llmkube.api.samples import (
    DOCUMENTS,
    LEAST,
    REPOSITORY,
    VLLM,
)
from tests.families.llmkube.api.test_rules import SCALE, SPEC
from tests.fleets import read


@pytest.mark.parametrize(
    ("base", "changes", "stored"),
    [
        (LEAST, {}, {"modelRef": "m1", "runtime": "llamacpp", "replicas": 1, "priority": "normal"}),
        (REPOSITORY, {}, {"source": "org/repo", "refreshPolicy": "IfNotPresent", "format": "gguf"}),
    ],
)  # fmt: skip
def test_defaults_of_a_whole_object(base: int, changes: dict[str, Any], stored: dict[str, Any]) -> None:
    assert filled(changed(DOCUMENTS[base], changes))["spec"] == stored


@pytest.mark.parametrize(
    ("base", "field", "written", "stored"),
    [
        (LEAST, "endpoint", {}, {"port": 8080, "path": "/v1/chat/completions", "type": "ClusterIP"}),
        (LEAST, "endpoint", {"port": 80}, {"port": 80, "path": "/v1/chat/completions", "type": "ClusterIP"}),
        (LEAST, "autoscaling", {"maxReplicas": 3}, {"maxReplicas": 3, "minReplicas": 1}),
        (LEAST, "resources", {}, {}),
        (LEAST, "vllmConfig", {}, {"kvCacheDtype": "auto"}),
        (LEAST, "vllmConfig", {"speculative": {}}, {"kvCacheDtype": "auto", "speculative": {"numSpeculativeTokens": 4}}),
        (LEAST, "tgiConfig", {"hfTokenSecretRef": {"key": "k"}}, {"hfTokenSecretRef": {"key": "k", "name": ""}}),
        (LEAST, "imagePullSecrets", [{}], [{"name": ""}]),
        (LEAST, "probeOverrides", {"startup": {"grpc": {"port": 1}}}, {"startup": {"grpc": {"port": 1, "service": ""}}}),
        (REPOSITORY, "hardware", {}, {"accelerator": "cpu"}),
        (REPOSITORY, "hardware", {"gpu": {}}, {"accelerator": "cpu", "gpu": {"vendor": "nvidia"}}),
        (REPOSITORY, "hardware", {"gpu": {"sharding": {}}}, {"accelerator": "cpu", "gpu": {"vendor": "nvidia", "sharding": {"strategy": "layer"}}}),
    ],
)  # fmt: skip
def test_defaults_apply_only_inside_objects_that_are_there(base: int, field: str, written: Any, stored: Any) -> None:
    assert filled(changed(DOCUMENTS[base], {f"spec/{field}": written}))["spec"][field] == stored


def filled(document: dict[str, Any]) -> dict[str, Any]:
    return with_defaults(read(document))


def test_attributes_have_the_same_defaults() -> None:
    resource = InferenceService.model_validate(
        changed(DOCUMENTS[VLLM], {f"{SPEC}": {}, f"{SCALE}": {"maxReplicas": 2}})
    )
    spec = resource.spec
    assert (spec.replicas, spec.priority, spec.eviction_protection) == (1, "normal", False)
    assert spec.autoscaling is not None
    assert spec.autoscaling.min_replicas == 1
    assert spec.vllm_config is not None
    assert spec.vllm_config.speculative is not None
    assert spec.vllm_config.speculative.num_speculative_tokens == 4
    model = Model.model_validate(DOCUMENTS[REPOSITORY])
    assert (model.spec.format, model.spec.refresh_policy) == ("gguf", "IfNotPresent")
