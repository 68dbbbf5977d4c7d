"""Config becomes arguments (Kthena spec 2.3, check 6 of section 12): fixed, and as the controllers write them."""

from typing import Any

import pytest

from tests.families.kthena.booster.support import (
    CONTROLLERS,
    VLLM,
    Object,
    backend,
    booster,
    engine_of,
    expanded,
    literal,
    words_of,
    worker,
)

GOLDEN: Object = {
    "served-model-name": "q",
    "max_model_len": 131072,
    "enable-prefix-caching": "",
    "trust-remote-code": True,
}


def fixed(config: Any, image: str = VLLM, **fields: Any) -> list[str]:
    """The engine's words behind its model."""
    document = booster("m", backend(workers=[worker(config=config, image=image)], **fields))
    words = words_of(engine_of(expanded(document)["ModelServing", "m-b"]))
    return words[words.index("--model") + 2 :]


def written(config: Any) -> list[str]:
    """The words that the controllers make of config."""
    document = booster("m", backend(workers=[worker(config=config)], cacheURI="hostpath:///c"))
    words = engine_of(literal(document).objects[0])["command"]
    return list(words[words.index("--model") + 2 : words.index("--kv-events-config")])


def test_the_golden_line_of_the_spec() -> None:
    assert " ".join(written(GOLDEN)) == (
        "--enable-prefix-caching --max-model-len 131072 --served-model-name q --trust-remote-code true"
    )


def test_the_golden_line_fixed() -> None:
    assert fixed(GOLDEN) == [
        *("--enable-prefix-caching", "--max-model-len", "131072"),
        *("--served-model-name", "q", "--trust-remote-code"),
    ]


@pytest.mark.parametrize(
    ("value", "go", "ours"),
    [  # spec 2.3 and D-20; Go's fmt package for what stands in the middle
        (999999, ["999999"], ["999999"]),
        (1000000, ["1e+06"], ["1000000"]),
        (1048576, ["1.048576e+06"], ["1048576"]),
        (123456789, ["1.23456789e+08"], ["123456789"]),
        (0.9, ["0.9"], ["0.9"]),
        (0.0001, ["0.0001"], ["0.0001"]),
        (0.00001, ["1e-05"], None),
        (2.0, ["2"], ["2"]),
        (-3, ["-3"], ["-3"]),
        (0, ["0"], ["0"]),
        ("text", ["text"], ["text"]),
        ("", [], []),
        (None, ["<nil>"], None),
        ({"b": 1, "a": [1, True, None]}, ["map[a:[1 true <nil>] b:1]"], ['{"b":1,"a":[1,true,null]}']),
        ([1, "b"], ["[1 b]"], ['[1,"b"]']),
    ],
)
def test_a_value(value: Any, go: list[str], ours: list[str] | None) -> None:
    assert written({"x-flag": value, "served-model-name": "q"})[2:] == ["--x-flag", *go]
    if ours is not None:
        assert fixed({"x-flag": value, "served-model-name": "q"})[2:] == ["--x-flag", *ours]


def test_a_number_with_an_exponent_stays_that_number() -> None:
    (_, text) = fixed({"x-flag": 0.00001, "served-model-name": "q"})[2:]
    assert float(text) == 0.00001


def test_a_null_is_nothing() -> None:
    assert fixed({"x-flag": None, "served-model-name": "q"}) == ["--served-model-name", "q"]


@pytest.mark.parametrize(
    ("value", "word"), [(True, "--enable-prefix-caching"), (False, "--no-enable-prefix-caching")]
)
def test_a_truth_value_turns_on_or_off(value: bool, word: str) -> None:
    assert fixed({"enable_prefix_caching": value, "served-model-name": "q"})[0] == word
    assert written({"enable_prefix_caching": value})[:2] == ["--enable-prefix-caching", str(value).lower()]


def test_keys_are_in_the_order_of_their_bytes() -> None:
    config = {"b": 1, "a_z": 1, "a-z": 2, "B": 1}
    assert written(config) == ["--B", "1", "--a-z", "2", "--a-z", "1", "--b", "1"]


@pytest.mark.parametrize("key", ["served-model-name", "served_model_name"])
def test_the_engine_knows_the_name_that_clients_ask_for(key: str) -> None:
    assert fixed({key: "own"}) == ["--served-model-name", "own"]
    assert fixed({}) == fixed(None) == ["--served-model-name", "m"]


@pytest.mark.parametrize("config", [{"served-model-name": "own"}, {"served_model_name": "own"}, {}])
def test_the_model_server_names_what_the_engine_knows(config: Object) -> None:
    found = expanded(booster("m", backend(workers=[worker(config=config)])))["ModelServer", "m-b"]
    assert found["spec"]["model"] == next(iter(config.values()), "m")


def test_only_one_spelling_is_known_to_the_controllers() -> None:
    document = booster("m", backend(workers=[worker(config={"served_model_name": "own"})], cacheURI="hostpath:///c"))
    assert literal(document).objects[1]["spec"]["model"] == "m"


def test_cache_events_are_for_the_runtime_and_for_versions_that_know_them() -> None:
    def words(image: str) -> list[str]:
        document = booster("m", backend(workers=[worker(image=image)]))
        return words_of(engine_of(expanded(document, CONTROLLERS)["ModelServing", "m-b"]))

    assert "--kv-events-config" not in fixed({})
    assert "--kv-events-config" in words(VLLM)
    assert "--kv-events-config" not in words("vllm/vllm-openai:v0.7.1"), "which would refuse to start"


def test_cache_events_of_ones_own_are_kept() -> None:
    document = booster("m", backend(workers=[worker(config={"kv-events-config": "{}"})]))
    words = words_of(engine_of(expanded(document, CONTROLLERS)["ModelServing", "m-b"]))
    assert words.count("--kv-events-config") == 1


def test_adapters_come_last() -> None:
    adapters = [{"name": "a", "artifactURL": "hf://org/a"}, {"name": "b", "artifactURL": "hf://org/b"}]
    words = fixed({}, loraAdapters=adapters, cacheURI="hostpath:///c")
    start = words.index("--enable-lora")
    assert words[start : start + 2] == ["--enable-lora", "--lora-modules"]
    assert [word.partition("=")[::2] for word in words[start + 2 :]] == [
        ("a", "/c/386b0224424e4810e2c0ca123b2de662"),
        ("b", "/c/5a8b1debcd46c3099ed9b3ce2c0926ec"),
    ]


def test_sglang() -> None:
    document = booster(
        "m", backend(type="SGLang", workers=[worker(image="lmsysorg/sglang:v0.5.4", config={"tp": 2})])
    )
    found = expanded(document)
    words = words_of(engine_of(found["ModelServing", "m-b"]))
    assert words[:4] == ["python3", "-m", "sglang.launch_server", "--model-path"]
    assert words[5:] == ["--tp", "2", "--served-model-name", "m", "--host", "0.0.0.0", "--enable-metrics"]
    server = found["ModelServer", "m-b"]["spec"]
    assert (server["inferenceEngine"], server["workloadPort"]) == ("SGLang", {"port": 30000})


def test_a_port_of_config_is_where_everybody_looks() -> None:
    found = expanded(booster("m", backend(workers=[worker(config={"port": 9000})])))
    engine = engine_of(found["ModelServing", "m-b"])
    assert engine["readinessProbe"]["httpGet"]["port"] == 9000
    assert "localhost:9000/" in engine["lifecycle"]["preStop"]["exec"]["command"][2]
    assert found["ModelServer", "m-b"]["spec"]["workloadPort"] == {"port": 9000}
