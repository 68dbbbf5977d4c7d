"""What counts as a secret, by its name and by its own form; what only refers to one does not."""

import json
import re
import time

import pytest

from components.contract.problems import Problem
from components.contract.texts.hidden import HIDDEN, hidden
from components.contract.texts.secrets import (
    is_literal_secret,
    masked,
    masked_text,
    names_secret,
    replace_secrets,
    secret_texts,
)
from components.engines.registry import engines

HF = "hf_" + "aB3" * 11
FORMS = {
    "Hugging Face": HF,
    "OpenAI": "sk-proj-" + "a1B2" * 6,
    "Anthropic": "sk-ant-api03-" + "x9" * 20,
    "AWS": "AKIA" + "ABCDEFGH" * 2,
    "AWS, temporary": "ASIA" + "ABCDEFGH" * 2,
    "GitHub": "ghp_" + "a1" * 18,
    "GitLab": "glpat-" + "a1" * 10,
    "Slack": "xoxb-1234567890-abcdef",
    "Google": "AIza" + "Sy_x" * 9,
    "NVIDIA": "nvapi-" + "a_1-" * 10,
    "a JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.c2lnbmF0dXJl",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize(
    "name",
    [
        *(
            "HF_TOKEN",
            "HUGGING_FACE_HUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "OSS_ACCESS_KEY_SECRET",
        ),
        *("PGPASSWORD", "REDISCLI_AUTH", "AWS_BEARER_TOKEN_BEDROCK", "OTEL_EXPORTER_OTLP_HEADERS", "SENTRY_DSN"),
        *("SLACK_WEBHOOK_URL", "webhookSecret", "signingKey", "botToken"),
        *("OPENAI_API_KEY", "WANDB_API_KEY", "DB_PASSWORD", "MINIO_SECRET", "GF_SECURITY_ADMIN_PASSWORD"),
        *(
            "--api-key",
            "--hf-token",
            "apiKey",
            "clientSecret",
            "password",
            "token",
            "accessKey",
            "some.chart/apiToken",
        ),
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert names_secret(name)
    assert masked({name: "hunter2"}) == {name: hidden("hunter2")}
    assert is_literal_secret(name, "hunter2")


@pytest.mark.parametrize(
    "name",
    [
        *("key", "topologyKey", "labelKeys", "secretName", "existingSecret", "tlsSecret", "hfTokenSecretRef", "keys"),
        *("tokenizer", "--tokenizer", "max_tokens", "maxTokens", "TOKENIZERS_PARALLELISM", "HF_TOKEN_PATH"),
        *("--api-key-file", "--ssl-keyfile", "--max-new-tokens", "nvidia.com/gpu", "monkey", "", "name", "HF_HOME"),
    ],
)
def test_names_of_other_things(name: str) -> None:
    assert not names_secret(name)
    assert masked({name: "hunter2"}) == {name: "hunter2"}


@pytest.mark.parametrize("secret", FORMS.values(), ids=FORMS)
def test_a_secret_is_known_by_its_form_wherever_it_stands(secret: str) -> None:
    assert is_literal_secret("X", secret)
    assert masked_text(f"must be a URL, found '{secret}'; x") == f"must be a URL, found '{hidden(secret)}'; x"
    assert masked(["a", f"run --x {secret} y"]) == ["a", f"run --x {hidden(secret)} y"]
    assert secret_texts({"a": [f"run {secret}"]}) == {secret}


@pytest.mark.parametrize(
    "value",
    [
        "$(HF_TOKEN)",
        "${HF_TOKEN}",
        "$HF_TOKEN",
        "/var/run/secrets/token",
        "<your token>",
        "%DYNAMIC_METADATA(io.envoy.ai_gateway:llm_input_token)%",
        "1",
        "true",
        "EMPTY",
        "",
        True,
    ],
)
def test_what_refers_to_a_secret_is_none(value: object) -> None:
    assert not is_literal_secret("HF_TOKEN", value)
    assert masked({"HF_TOKEN": value}) == {"HF_TOKEN": value}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "pip install hf_transfer",
            "disk-usage-over-90-percent-1",
            "task-scheduler-long-name-1",
            "ghost_of_the_machine",
        ),
        *("--api-key is a flag of vLLM", "set --hf-token in a Secret", "the key to success", "token: is required"),
        *("hf://org/model@main", "https://example.com/a@b", "s3://bucket/key", "params TP: '2' and tokens: '3'"),
    ],
)
def test_words_are_left_alone(text: str) -> None:
    assert masked_text(text) == text


def test_variables_and_command_lines() -> None:
    assert engines()  # their tables tell which values of flags are harmless
    container = {
        "env": [{"name": "HF_TOKEN", "value": "abc"}, {"name": "A", "value": "b"}],
        "command": ["sh", "-c", "HF_TOKEN=abc exec serve --api-key 'x y' --model m; curl https://me:pw1@host/"],
        "args": ["--api-key", "def", "--api-key=ghi", "--hf-token", "--model", "m", "--port=8080"],
    }
    assert masked(container) == {
        "env": [{"name": "HF_TOKEN", "value": hidden("abc")}, {"name": "A", "value": hidden("b")}],
        "command": [
            "sh",
            "-c",
            f"HF_TOKEN={hidden('abc')} exec serve --api-key {hidden(chr(39) + 'x y' + chr(39))} --model m; "
            f"curl {hidden('https://me:pw1@host/')}",
        ],
        "args": [
            *("--api-key", hidden("def"), f"--api-key={hidden('ghi')}", "--hf-token", "--model", "m", "--port=8080"),
        ],
    }
    assert secret_texts(container) == {"abc", "x y", "pw1", "def", "ghi"}


def test_everything_in_a_secret_is_one() -> None:
    value = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "Yg=="}, "stringData": {"c": {"d": 1}}}
    shown = {"data": {"a": hidden("Yg==")}, "stringData": {"c": {"d": hidden(1)}}}
    assert masked(value) == {**value, **shown}
    assert secret_texts({**value, "kind": "ConfigMap"}) == frozenset()


def test_messages_quote_what_is_known_to_be_a_secret() -> None:
    text = "HF_TOKEN: must be short, found 'hunter2'; a map {'DB_PASSWORD': 'abc'}; abcd"
    assert masked_text(text, {"hunter2"}) == (
        f"HF_TOKEN: must be short, found '{hidden('hunter2')}'; a map {{'DB_PASSWORD': '{hidden('abc')}'}}; abcd"
    )
    nested = """KeyError: 'x TOKEN=abc KEY="HF_TOKEN=abc"' key={"DB_PASSWORD": "abc"}"""
    assert "abc" not in masked_text(nested)
    assert masked_text("'abc' and abcd", {"abc"}) == f"'{hidden('abc')}' and abcd"


LONG = """run 'zanzibar quokka' and "tundra" in the morning"""


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (f"found '{LONG}'; shorten it", "found '{}'; shorten it"),
        (f"found {json.dumps(LONG)}", 'found "{}"'),
        (f"found {LONG!r}", "found '{}'"),
        (f"found {LONG[:40]}...", "found {}..."),
        (f"found {json.dumps(LONG)[1:36]}", "found {}"),
    ],
)
def test_a_secret_is_hidden_however_a_message_spells_or_shortens_it(text: str, rest: str) -> None:
    known = {LONG, f"{LONG[:20]} beyond", f"{LONG} and beyond"}
    assert re.sub(HIDDEN, "{}", masked_text(text, known)) == rest


def test_a_text_that_only_begins_like_a_secret_is_shown() -> None:
    known = {LONG, "run 'zanzibar"}
    assert masked_text("run 'zanz and others", known) == "run 'zanz and others"
    assert masked_text("run 'zanzibar' first", known) == hidden("run 'zanzibar") + "' first"


@pytest.mark.parametrize("name", ["k", "x-goog-hash", "access"])
def test_parameters_of_addresses_are_hidden_unless_they_select_a_file(name: str) -> None:
    address = "https://models.example.com/m.gguf"
    shown = {"source": f"{address}?download=true&{name}={hidden('zanzibar-quokka')}&revision=main"}
    assert masked({"source": f"{address}?download=true&{name}=zanzibar-quokka&revision=main"}) == shown
    assert masked_text(f"{address}?{name}=zanzibar: not found") == f"{address}?{name}={hidden('zanzibar')}: not found"
    for harmless in (f"{address}?page=3&all=true", f"{address}?tag=v1.2", "a?k=zanzibar"):
        assert masked({"source": harmless}) == {"source": harmless}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"args": [{"x": "--token zanzibar"}]}, {"args": [{"x": hidden("--token zanzibar")}]}),
        ({"env": [["zanzibar"], "A=zanzibar"]}, {"env": [[hidden("zanzibar")], f"A={hidden('zanzibar')}"]}),
        ({"args": {"seed": "7", "api-key": "zanzibar"}}, {"args": {"seed": "7", "api-key": hidden("zanzibar")}}),
        (
            {"kubectl.kubernetes.io/last-applied-configuration": ["zanzibar"]},
            {"kubectl.kubernetes.io/last-applied-configuration": [hidden("zanzibar")]},
        ),
    ],
)
def test_structures_in_place_of_a_text_hide_the_texts_in_them(value: dict[str, object], shown: object) -> None:
    assert masked(value) == shown


def test_a_word_after_the_value_of_a_flag_belongs_to_no_flag() -> None:
    """The flags are those of vLLM, which the engines' tables list."""
    args = ["--max-model-len", "8192", "zanzibar-quokka", "--enforce-eager", "zanzibar-quokka", "--dtype", "bfloat16"]
    word = hidden("zanzibar-quokka")
    assert masked({"args": args}) == {"args": [*args[:2], word, args[3], word, *args[5:]]}


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ('{"method":"ngram","num_speculative_tokens":5}', True),
        ('{"model":"acme/draft","quantization_type":"fp8"}', True),
        ('{"x":"zanzibar-quokka"}', False),
        ('{"a":{"access":["zanzibar-quokka"]}}', False),
    ],
)
def test_json_of_a_flag_shows_only_options_that_are_known(text: str, *, is_shown: bool) -> None:
    assert masked({"args": ["--speculative-config", text]})["args"][1] == (text if is_shown else hidden(text))


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("metadata.annotations[user: a\npassword: zanzibar]", "metadata.annotations[{}]"),
        ("spec[https://reader:zanzibar@example.com/x]", "spec[{}]"),
        ("spec.envs[1][zanzibar-quokka]", "spec.envs[1][{}]"),
        (f"metadata.labels[{HF}]", "metadata.labels[{}]"),
        ("spec.envs[1].valuee", "spec.envs[1].valuee"),
        ("metadata.annotations[example.com/owner-team]", "metadata.annotations[example.com/owner-team]"),
        (
            "spec.containers[main].resources.limits[nvidia.com/gpu]",
            "spec.containers[main].resources.limits[nvidia.com/gpu]",
        ),
    ],
)
def test_the_path_of_a_problem_shows_no_value_that_stands_in_the_place_of_a_key(path: str, shown: str) -> None:
    problem = Problem(file="m.yaml", path=path, reason="unknown field")
    assert re.sub(HIDDEN, "{}", problem.path) == shown


def test_masking_masked_values_changes_nothing() -> None:
    value = {"HF_TOKEN": HF, "args": [f"--api-key={HF}"], "text": f"Bearer {HF}"}
    once = masked(value)
    assert HF not in str(once)
    assert masked(once) == once


def test_callers_decide_what_a_secret_becomes() -> None:
    value = {"env": [{"name": "HF_TOKEN", "value": "abc"}], "args": ["x", f"a {HF} b"]}
    wrapped = replace_secrets(value, lambda secret, shown: ("sealed", secret, shown))
    assert wrapped["env"][0]["value"] == ("sealed", "abc", hidden("abc"))
    assert wrapped["args"] == ["x", ("sealed", f"a {HF} b", f"a {hidden(HF)} b")]


@pytest.mark.parametrize(
    "text",
    [
        *("key" * 30000, "sk-" * 30000, "eyJaaaaaaaaaa." * 10000, "key='" * 20000, "://a:" * 20000, "token " * 20000),
        *(
            "key" + " " * 90000,
            "key=" * 20000,
            "token=" * 20000,
            "token='" * 20000,
            "--token " * 20000,
            "hf_" * 30000,
            "-----BEGIN PRIVATE KEY-----" * 4000,
            "/a" * 40000,
            "token=$" * 20000,
        ),
        *("curl -u " * 15000, "curl -u '" * 10000, "curl \\\n" * 10000, "token: '" * 15000, "token:\n" * 15000),
        *("https://a?key=" * 9000, "${token:-b" * 10000, "a: {token: " * 6000, "[" * 60000, "--token \n" * 10000),
        *('{"token":' * 8000, "token: " + "a " * 40000, "TOKEN=$(a" * 10000, "\ntoken = " * 10000, "`" * 60000),
    ],
    ids=lambda text: text[:14],
)
def test_no_text_takes_long(text: str) -> None:
    begun = time.process_time()
    masked_text(text)
    masked({"TOKEN": text, "a": text})
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "value",
    [
        {"securityContext": {"capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]}}},
        {"kind": "CustomResourceDefinition", "properties": {"env": {"type": "array"}, "args": {"add": "atomic"}}},
        {"labels": {"example.com/revision": "0a1b2c3d4e5f60718293", "pod-template-hash": "7d9c5b8f6d"}},
        {"filters": [{"requestHeaderModifier": {"set": [{"name": "x-model", "value": "qwen"}]}}]},
        {"image": "ghcr.io/acme/side:v1@sha256:" + "0a1b" * 16, "instanceType": "g6e.12xlarge"},
        {"vpcId": "vpc-0a1b2c3d4e5f60718", "roleArn": "arn:aws:iam::123456789012:role/models"},
    ],
    ids=str,
)
def test_harmless_fields_are_shown(value: dict[str, object]) -> None:
    assert masked(value) == value


def test_a_named_list_of_arguments_shows_its_name_and_hides_its_values() -> None:
    """llmaz has it until v0.1.0; messages about a missing configuration name it."""
    named = {"args": {"name": "speculative-decoding", "flags": ["--max-model-len", "4096", "--api-key", "Qx9plain"]}}
    flags = masked(named)["args"]["flags"]
    assert masked(named)["args"]["name"] == "speculative-decoding"
    assert flags[:3] == ["--max-model-len", "4096", "--api-key"]
    assert "Qx9plain" not in flags[3]
    broken = {"args": {"name": ["Qx9plain"], "flags": "Qx9plain"}}
    assert "Qx9plain" not in str(masked(broken))
