"""Which tags tell an engine's version, and what is checked where none does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.engines.command_line import CommandLine
from components.engines.flags.tables import arguments, flags_of
from components.engines.lint import lint
from components.engines.registry import engines
from components.engines.spelling import respelled
from components.engines.versions import ANY, POST, Version, version_of, without_version
from tests.families.llmkube.support import isvc, model
from tests.fleets import errors, fleet_of, open_model, playground, runtime

PRIVATE = "reg.example/ml/inference"


@pytest.mark.parametrize(
    ("engine", "repository", "tag", "version"),
    [
        ("vllm", "vllm/vllm-openai", "v0.8.2", (0, 8, 2)),
        ("vllm", "reg.example/mirror/vllm/vllm-openai", "v0.8.2", (0, 8, 2)),
        ("vllm", "vllm/vllm-openai", "nightly", None),
        ("vllm", "vllm/vllm-openai", "cu130-nightly", None),
        # Builds of a day or a commit stay, while the newest version goes on.
        ("vllm", "vllm/vllm-openai", "nightly-e2fa28594f7baad142a426b0b6a2cfe2c79201c7", ANY),
        ("sglang", "lmsysorg/sglang", "nightly-dev-cu13-20260605-7dc73766", ANY),
        ("sglang", "lmsysorg/sglang", "dev-cu13", None),
        ("sglang", "lmsysorg/sglang", "v0.5.5.post3-cu129", (0, 5, 5, POST + 3)),
        ("vllm", "vllm/vllm-openai", "", None),
        ("vllm", "reg.example/vllm", "0.8.2", (0, 8, 2)),
        ("tgi", "reg.example/text-generation-inference", "3.3.6-rocm", (3, 3, 6)),
        ("llamacpp", "ghcr.io/ggml-org/llama.cpp", "server-cuda-b6500", (6500,)),
        ("llamacpp", "ghcr.io/ggml-org/llama.cpp", "server-cuda", None),
        # What names an engine beside the number is of that engine.
        ("vllm", PRIVATE, "1.4-vllm0.8.2", (0, 8, 2)),
        ("vllm", PRIVATE, "vllm-v0.8.2", (0, 8, 2)),
        ("llamacpp", PRIVATE, "llama.cpp-b6500", (6500,)),
        # These tell nothing of the engine.
        ("vllm", PRIVATE, "0.1.0", ANY),
        ("vllm", PRIVATE, "prod", ANY),
        ("vllm", PRIVATE, "latest", ANY),
        ("vllm", PRIVATE, "", ANY),
        ("vllm", PRIVATE, "sglang-0.5.4", ANY),
        ("llamacpp", PRIVATE, "b6500", ANY),
        ("vllm", "reg.example/not-vllm", "0.8.2", ANY),
        ("vllm", "vllm/vllm-openai", "prod", ANY),
        ("vllm", "reg.example/vllm", "2024-06", ANY),
        ("vllm", "reg.example/vllm", "2024.06", ANY),
    ],
)
def test_a_number_counts_where_it_is_that_of_the_engine(
    engine: str, repository: str, tag: str, version: Version | None
) -> None:
    known = engines()[engine]
    assert known.version(known.version_tag(repository, tag)) == version


def test_a_declared_version_counts_whatever_the_image_is_called() -> None:
    vllm = engines()["vllm"]
    assert vllm.version_tag(PRIVATE, "0.8.2", declared=True) == "0.8.2"
    assert vllm.version(vllm.version_tag(PRIVATE, "prod", declared=True)) == ANY


@given(st.sampled_from(sorted(engines())), st.text("abv0.1-_", max_size=12), st.booleans())
def test_what_is_marked_stays_marked(engine: str, tag: str, builds: bool) -> None:
    assert version_of(without_version(tag), builds=builds) == ANY
    known = engines()[engine]
    assert without_version(known.version_tag(PRIVATE, tag)) == without_version(
        without_version(known.version_tag(PRIVATE, tag))
    )


@pytest.mark.parametrize(
    ("engine", "args", "flag"),
    [
        ("vllm", ["--speculative-model", "x"], None),  # until 0.8.3
        ("vllm", ["--attention-backend", "FLASHINFER"], None),  # from 0.13
        ("vllm", ["--attention-backend", "IPEX"], None),  # until 0.20
        ("vllm", ["--enable-chunked-prefill"], None),  # took a value until 0.8.3
        ("vllm", ["--enable-chunked-prefill", "true"], None),
        ("llamacpp", ["-fa"], None),  # a switch until b6324
        ("llamacpp", ["-fa", "on"], None),
        ("tgi", ["--max-input-length", "9"], None),
        ("sglang", ["--pp-size", "2"], None),  # from 0.4.7
        ("vllm", ["--max-model-length", "9"], "--max-model-length"),
        ("vllm", ["--port", "many"], "--port"),
        ("vllm", ["--attention-backend", "FLUSHINFER"], "--attention-backend"),
        ("llamacpp", ["--ctx-sise", "9"], "--ctx-sise"),
    ],
)
def test_only_what_no_version_knows_is_reported_and_as_a_warning(
    engine: str, args: list[str], flag: str | None
) -> None:
    found = lint(CommandLine(engine, without_version("prod"), args))
    assert [finding.severity for finding in found] == (["warning"] if flag else [])
    assert all(flag and flag in finding.reason and "@" not in finding.reason for finding in found)


@pytest.mark.parametrize("engine", [engine for engine in engines() if flags_of(engine)])
def test_every_flag_that_some_version_has_is_known(engine: str) -> None:
    table = flags_of(engine)
    assert table
    for flag in table.flags:
        assert flag.span.includes(ANY) or flag.span.never, flag.name
        assert {
            choice for choice in flag.form.values if not choice.span.includes(ANY) and not choice.span.never
        } == set()


def test_arguments_of_an_unknown_version_are_written_as_the_newest_and_never_rewritten() -> None:
    assert arguments("llamacpp", "--flash-attn", "on", without_version("prod")) == ("--flash-attn", "on")
    assert arguments("tgi", "--max-input-length", "9", without_version("prod")) == ("--max-input-tokens", "9")
    line = CommandLine("llamacpp", without_version("prod"), ("-fa",))
    assert respelled(line) is line
    assert respelled(CommandLine("llamacpp", "server", ("-fa",))).args == ("-fa", "on")


def problems(image: str, **fields: Any) -> list[tuple[str, str]]:
    service = isvc(runtime="vllm", image=image, skipModelInit=True, **fields)
    found = fleet_of(
        model(source="org/name", hardware={"accelerator": "cuda", "gpu": {"count": 1}}), service
    ).problems
    return [(problem.path, problem.severity) for problem in found if "nodeSelector" not in problem.path]


def test_an_inference_service_with_an_image_of_ones_own() -> None:
    args = {"extraArgs": ["--speculative-model", "x", "--attention-config", "{}"]}
    for image in (f"{PRIVATE}:0.1.0", f"{PRIVATE}:prod", f"{PRIVATE}:2024-06", PRIVATE):
        assert problems(image, **args) == [], image
    assert ("spec.extraArgs[0]", "error") in problems("vllm/vllm-openai:v0.20.0", **args)
    assert ("spec.extraArgs[2]", "error") in problems("vllm/vllm-openai:v0.8.2", **args)
    assert ("spec.extraArgs[0]", "error") in problems(f"{PRIVATE}:vllm-0.20.0", **args)
    assert problems(f"{PRIVATE}:prod", extraArgs=["--speculativ-model", "x"]) == [("spec.extraArgs[0]", "warning")]


def backend(name: str, image: str, version: str, *args: str) -> list[str]:
    own = runtime(
        name, image=image, version=version, recommendedConfigs=[{"name": "default", "args": ["--host", "0"]}]
    )
    fleet = fleet_of(open_model(), own, playground(backendRuntimeConfig={"backendName": name, "args": list(args)}))
    return [problem.path for problem in errors(fleet)]


def test_a_runtime_of_the_engines_name_declares_its_version() -> None:
    line = ("--attention-backend", "FLASHINFER")
    path = ["spec.backendRuntimeConfig.args[0]"]
    assert backend("vllm", PRIVATE, "v0.8.2", *line) == path
    assert backend("vllm", PRIVATE, "prod", *line) == []
    assert backend("vllm", "vllm/vllm-openai", "v0.8.2", *line) == path
    assert backend("mine", PRIVATE, "v0.8.2", *line) == []
