"""Models from every source, served by what prints its arguments."""

from typing import Any

from tests.fleets import (
    runtime,
)

SKIP = {"llmaz.io/skip-model-loader": "true"}
PRINTS = runtime(recommendedConfigs=[{"name": "default", "args": ["{{ .ModelPath }}", "{{ .ModelName }}"]}])
OSS = "OSS://bucket.oss-cn-hangzhou.aliyuncs.com"


def own(**spec: Any) -> dict[str, Any]:
    return {"backendRuntimeConfig": {"backendName": "own"}, **spec}


def secret(name: str, secret_name: str, key: str) -> dict[str, Any]:
    reference = {"name": secret_name, "key": key, "optional": True}
    return {"name": name, "valueFrom": {"secretKeyRef": reference}}


HUB_TOKENS = [secret(name, "modelhub-secret", "HF_TOKEN") for name in ("HUGGING_FACE_HUB_TOKEN", "HF_TOKEN")]
OSS_KEYS = [secret(name, "oss-access-secret", name) for name in ("OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET")]
AWS_KEYS = [secret(name, "aws-access-secret", name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")]


def pairs(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
