"""Samples of what models promise, beside a variant that is sized for it."""

from typing import Any

from tests.stacks.every_key.sample import Sample

_MODEL, _NAME = "mistral-7b-instruct", "mistral-7b"
_VARIANT: dict[str, Any] = {
    "models": ["stacks/variants/mistral-7b.yaml"],
    "serviceLevels": {
        "classes": [{"name": "Standard", "priority": 1, "models": {_MODEL: {"itlMs": 150, "ttftMs": 2000}}}],
        "loads": {_NAME: {"requestsPerMinute": 60, "outputTokens": 256}},
    },
}
_VARIANT_OPERATED: dict[str, Any] = {
    **_VARIANT,
    "realizations": {"llmd": "operator"},
    "serviceLevels": {
        **_VARIANT["serviceLevels"],
        "controller": {"prometheusUrl": "https://prometheus.monitoring.svc:9090"},
    },
}

LEVEL_SAMPLES: dict[str, Sample] = {
    "releases": Sample({"llmaz": "v0.1.3"}, {"realizations": {"llmaz": "operator"}}),
    "realizations": Sample(
        {"llmd": "operator"}, {key: value for key, value in _VARIANT_OPERATED.items() if key != "realizations"}
    ),
    "serviceLevels.classes[].name": Sample("Gold", _VARIANT_OPERATED),
    "serviceLevels.classes[].priority": Sample(2, _VARIANT_OPERATED),
    "serviceLevels.classes[].models.*.itlMs": Sample(100, _VARIANT, entry=_MODEL),
    "serviceLevels.classes[].models.*.ttftMs": Sample(200, _VARIANT, entry=_MODEL),
    "serviceLevels.loads.*.requestsPerMinute": Sample(9000, _VARIANT, entry=_NAME),
    "serviceLevels.loads.*.outputTokens": Sample(2000, _VARIANT, entry=_NAME),
    "serviceLevels.loads.*.inputTokens": Sample(2000, _VARIANT, entry=_NAME),
    "serviceLevels.loads.*.leastRequestsPerMinute": Sample(50, _VARIANT, entry=_NAME),
    "serviceLevels.accelerators.*.centsPerHour": Sample(5, _VARIANT_OPERATED, entry="L4"),
    "serviceLevels.accelerators.*.device": Sample("NVIDIA-L4-24GB", _VARIANT_OPERATED, entry="L4"),
    "serviceLevels.controller.prometheusUrl": Sample("https://other.monitoring.svc:9091", _VARIANT_OPERATED),
    "serviceLevels.controller.insecureSkipVerify": Sample(True, _VARIANT_OPERATED),
    "serviceLevels.controller.scaleToZero": Sample(True, _VARIANT_OPERATED),
    "serviceLevels.controller.interval": Sample("30s", _VARIANT_OPERATED),
    "serviceLevels.controller.caSecret": Sample("prometheus-ca", _VARIANT_OPERATED),
    "serviceLevels.controller.image": Sample("registry.example.com/wva:1", _VARIANT_OPERATED),
}
