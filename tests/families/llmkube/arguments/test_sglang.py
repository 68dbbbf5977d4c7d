"""Arguments of SGLang: those of internal/controller/runtime_sglang.go at v0.9.19, or a deviation and why."""

from typing import Any

import pytest

from tests.families.llmkube.arguments.support import Started, start

NEW = "lmsysorg/sglang:v0.5.9"


def sglang(config: dict[str, Any] | None = None, *, gpus: int = 1, image: str = NEW, **spec: Any) -> Started:
    fields = {**({"sglangConfig": config} if config is not None else {}), **spec}
    return start("sglang", fields, gpus=gpus, image=image)


def own(started: Started) -> list[str]:
    head = ["--model-path", "org/repo", "--port", "30000", "--enable-metrics", "--host", "0.0.0.0"]
    assert started.args[:9] == [*head, "--served-model-name", "m1"]
    return started.args[9:]


def test_the_command_is_the_module() -> None:
    assert sglang().command == ["python3", "-m", "sglang.launch_server"]
    assert sglang(command=["mine"]).command == ["mine"]


@pytest.mark.parametrize(
    ("config", "args"),
    [
        ({"contextLength": 8192}, ["--context-length", "8192"]),
        ({"memFractionStatic": 0.85}, ["--mem-fraction-static", "0.85"]),
        ({"chunkedPrefillSize": 4096}, ["--chunked-prefill-size", "4096"]),
        ({"maxRunningRequests": 8}, ["--max-running-requests", "8"]),
        ({"quantization": "fp8"}, ["--quantization", "fp8"]),
        ({"kvCacheDtype": "auto"}, []),
        ({"kvCacheDtype": "fp8_e5m2"}, ["--kv-cache-dtype", "fp8_e5m2"]),
        ({"kvCacheCustomDtype": "bf16"}, ["--kv-cache-dtype", "bf16"]),
        ({"attentionBackend": "flashinfer"}, ["--attention-backend", "flashinfer"]),
        # Upstream writes --enable-prefix-caching for true, which no version of SGLang has.
        ({"enablePrefixCaching": True}, []),
        ({"enablePrefixCaching": False}, ["--disable-radix-cache"]),
        ({"toolCallParser": "qwen25"}, ["--tool-call-parser", "qwen25"]),
        ({"reasoningParser": "deepseek-r1"}, ["--reasoning-parser", "deepseek-r1"]),
        ({"chatTemplate": "chatml"}, ["--chat-template", "chatml"]),
        ({"logLevel": "error"}, ["--log-level", "error"]),
        ({"trustRemoteCode": True, "skipTokenizerInit": True}, ["--trust-remote-code", "--skip-tokenizer-init"]),
        ({"trustRemoteCode": False, "skipTokenizerInit": False}, []),
        (
            {"loraAdapters": [{"name": "a", "path": "/a"}], "loraModules": ["b=/b", '{"name": "c", "path": "/c"}']},
            ["--lora-paths", "a=/a", "b=/b", "c=/c"],
        ),
        (
            {"maxLoraRank": 8, "loraTargetModules": ["q_proj", "v_proj"]},
            ["--max-lora-rank", "8", "--lora-target-modules", "q_proj", "v_proj"],
        ),
        (
            {"speculative": {"enabled": True, "algorithm": "EAGLE", "draftModelPath": "o/d", "numSteps": 2,
                             "eagleTopK": 3, "acceptThresholdSingle": 0.5, "acceptThresholdAcc": 1}},
            ["--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "o/d",
             "--speculative-num-steps", "2", "--speculative-eagle-topk", "3", "--speculative-num-draft-tokens", "4",
             "--speculative-accept-threshold-single", "0.5", "--speculative-accept-threshold-acc", "1"],
        ),
        ({"speculative": {"enabled": False, "algorithm": "EAGLE", "draftModelPath": "o/d"}}, []),
    ],
)  # fmt: skip
def test_a_field_becomes_its_arguments(config: dict[str, Any], args: list[str]) -> None:
    started = sglang(config)
    assert own(started) == args
    assert not started.errors


@pytest.mark.parametrize(
    ("gpus", "config", "args"),
    [
        (1, None, []),
        (4, None, ["--tp-size", "4"]),
        (4, {"tensorParallelSize": 4}, ["--tp-size", "4"]),
        # Upstream spreads each copy over all GPUs, of which there are too few.
        (4, {"dataParallelSize": 2}, ["--dp-size", "2", "--tp-size", "2"]),
        (4, {"tensorParallelSize": 2, "dataParallelSize": 2}, ["--tp-size", "2", "--dp-size", "2"]),
        (2, {"expertParallelSize": 2}, ["--ep-size", "2", "--tp-size", "2"]),
    ],
)
def test_gpus_are_divided(gpus: int, config: dict[str, Any] | None, args: list[str]) -> None:
    started = sglang(config, gpus=gpus)
    assert own(started) == args
    assert not started.problems


def test_attention_in_data_parallel_shares_the_gpus_of_one_copy() -> None:
    config = {"tensorParallelSize": 4, "dataParallelSize": 4}
    assert not sglang(config, gpus=4, extraArgs=["--enable-dp-attention"]).errors


@pytest.mark.parametrize(
    ("gpus", "config", "path"),
    [
        (2, {"expertParallelSize": 4}, "expertParallelSize"),
        (1, {"loraModules": ["not an adapter"]}, "loraModules[0]"),
        (1, {"quantization": "none-such"}, "quantization"),
    ],
)
def test_what_the_server_would_not_start_with_is_refused(gpus: int, config: dict[str, Any], path: str) -> None:
    assert f"spec.sglangConfig.{path}" in sglang(config, gpus=gpus).errors


@pytest.mark.parametrize(
    ("gpus", "config", "path"),
    [
        (0, {"memFractionStatic": 0.5}, "memFractionStatic"),
        (1, {"kvCacheDtype": "fp8_e5m2", "kvCacheCustomDtype": "bf16"}, "kvCacheDtype"),
        (1, {"speculative": {"enabled": True, "algorithm": "EAGLE"}}, "speculative.draftModelPath"),
        (1, {"speculative": {"draftModelPath": "o/d"}}, "speculative.draftModelPath"),
        (1, {"loraAdapters": [{"name": "a", "path": "/a"}], "loraModules": ["a=/b"]}, "loraModules[0]"),
    ],
)
def test_what_has_no_effect_is_told(gpus: int, config: dict[str, Any], path: str) -> None:
    assert f"spec.sglangConfig.{path}" in sglang(config, gpus=gpus).warnings


@pytest.mark.parametrize(
    ("spec", "has"),
    [
        ({"mode": "embedding"}, True),
        ({"mode": "chat", "endpoint": {"port": 30000, "path": "/v1/embeddings"}}, False),
        ({"endpoint": {"port": 30000, "path": "/v1/embeddings"}}, True),
        ({}, False),
    ],
)
def test_embeddings_are_served_by_mode_or_path(spec: dict[str, Any], *, has: bool) -> None:
    assert ("--is-embedding" in sglang(**spec).args) is has


def test_arguments_of_the_user_replace_those_of_the_operator() -> None:
    started = sglang(extraArgs=["--served-model-name", "mine", "--enable-metrics", "--is-embedding"])
    assert started.args.count("--served-model-name") == started.args.count("--enable-metrics") == 1


def test_the_hub_token_is_in_the_variable_that_the_hub_reads() -> None:
    env = sglang({"hfTokenSecretRef": {"name": "hf", "key": "t"}}).result.env
    assert env == [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "t"}}}]


def test_a_value_of_the_contract_that_the_server_does_not_know_is_refused() -> None:
    assert "fa3" in sglang({"attentionBackend": "flash_attn"}).errors["spec.sglangConfig.attentionBackend"]
