"""Flags of a runtime by version, ports, and what an engine does with them."""

import json
from typing import Any

import pytest

from components.fleet.words import Edition, Realization
from tests.families.llmaz.test_runtime import MODEL, config, uses
from tests.fleets import container, fleet_of, objects, open_model, playground, runtime, the_error, warnings


class TestPort:
    """The serving port is the last ``--port``; everything that asks the engine follows it."""

    @pytest.mark.parametrize("args", [["--port", "9000"], ["--port=9000"], ["--port", "1", "--port", "9000"]])
    def test_everything_follows_it(self, args: list[str]) -> None:
        made = objects(MODEL, playground(**uses("vllm", args=args)))
        got = made["Deployment"]["spec"]["template"]["spec"]["containers"][0]
        assert got["ports"] == [{"name": "http", "containerPort": 9000, "protocol": "TCP"}]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert got[probe]["httpGet"]["port"] == 9000
        assert "localhost:9000/metrics" in json.dumps(got["lifecycle"])
        (port,) = made["Service"]["spec"]["ports"]
        assert (port["port"], port["targetPort"]) == (8080, 9000)

    def test_a_runtime_on_a_port_of_its_own_moves_too(self) -> None:
        probe = {"httpGet": {"path": "/health", "port": 8000}}
        own = runtime(recommendedConfigs=config(args=["--port", "8000"]), readinessProbe=probe)
        unmoved = container(MODEL, own, playground(**uses()))
        assert unmoved["ports"][0]["containerPort"] == 8000
        assert unmoved["readinessProbe"] == probe
        moved = container(MODEL, own, playground(**uses(args=["--port", "9000"])))
        assert moved["readinessProbe"]["httpGet"]["port"] == 9000

    def test_another_port_of_a_probe_stays(self) -> None:
        probe = {"tcpSocket": {"port": 7000}}
        own = runtime(recommendedConfigs=config(args=["--port", "8080"]), livenessProbe=probe)
        assert container(MODEL, own, playground(**uses(args=["--port", "9000"])))["livenessProbe"] == probe

    @pytest.mark.parametrize("backend", ["vllm", "tensorrt-llm"])
    @pytest.mark.parametrize("port", ["0", "65536", "99999"])
    def test_a_port_that_cannot_be_is_an_error(self, port: str, backend: str) -> None:
        problem = the_error(MODEL, playground(**uses(backend, args=["--port", port])))
        assert problem.path.startswith("spec.backendRuntimeConfig.args")
        assert port in problem.reason

    @pytest.mark.parametrize("args", [["--port", "9000"], ["-p", "9000"], ["-p=9000"], ["-p9000"]])
    def test_any_spelling_of_it_counts(self, args: list[str]) -> None:
        got = container(MODEL, playground(**uses("tgi", args=args)))
        assert got["ports"][0]["containerPort"] == 9000
        assert got["readinessProbe"]["httpGet"]["port"] == 9000
        assert got["args"] == ["--model-id", "/workspace/models/models--Qwen--Qwen2-0.5B", *args]

    def test_a_flag_of_the_same_letter_is_none(self) -> None:
        """``-p`` is the prompt of llama.cpp; the server has it only in builds before the first known one."""
        model = open_model(source={"modelHub": {"modelID": "a/b", "filename": "b.gguf"}})
        got = container(model, playground(**uses("llamacpp", args=["-p", "9000"], version="server-b4000")))
        assert got["ports"][0]["containerPort"] == 8080


def test_arguments_that_ollama_never_sees_are_pointed_out() -> None:
    """They become positional parameters of its shell (llmaz spec 3)."""
    model = open_model(source="ollama://qwen2:0.5b")
    (problem,) = warnings(fleet_of(model, playground(**uses("ollama", args=["--verbose"]))))
    assert problem.path == "spec.backendRuntimeConfig.args"


GGUF = open_model(source={"modelHub": {"modelID": "a/b", "filename": "b.gguf"}})
LLAMA_ARGS = ["-m", "/workspace/models/b.gguf", "--host", "0.0.0.0", "--port", "8080", "--metrics"]


class TestFlags:
    """Arguments of a Playground follow the version of the image (LLMKube spec 8 tells what versions know)."""

    @pytest.mark.parametrize(
        ("options", "version", "written", "expected"),
        [
            ({}, "server", ["-fa"], ["-fa"]),  # of the old address: no newer than February 2025
            ({}, "server-cuda", ["--flash-attn", "on"], ["--flash-attn"]),
            ({}, "server-b6500", ["-fa"], ["-fa", "on"]),
            ({"runtimes": Edition.CURRENT}, None, ["-fa"], ["-fa", "on"]),
            ({"runtimes": Edition.CURRENT}, "server-b6000", ["-fa"], ["-fa"]),
            ({"runtimes": Edition.CURRENT}, "server", ["--draft-max", "8"], ["--spec-draft-n-max", "8"]),
            ({"runtimes": Edition.CURRENT}, None, ["-c", "4096"], ["-c", "4096"]),
        ],
    )
    def test_the_users_arguments_are_spelled_for_the_version(
        self, options: Any, version: str | None, written: list[str], expected: list[str]
    ) -> None:
        spec = uses("llamacpp", args=written, **({"version": version} if version else {}))
        assert container(GGUF, playground(**spec), **options)["args"] == [*LLAMA_ARGS, *expected]

    @pytest.mark.parametrize(
        ("backend", "args", "severity", "index", "words"),
        [
            ("vllm", ["--max-model-len", "8kb"], "error", 1, ("--max-model-len", "8kb")),
            ("vllm", ["--enforce-eager", "--max-modle-len", "8"], "error", 1, ("did you mean '--max-model-len'",)),
            ("vllm", ["-tp", "1", "--tensor-parallel-size", "1"], "warning", 0, ("no effect",)),
            ("sglang", ["--dtype=bf16"], "error", 0, ("bfloat16",)),
            ("tgi", ["--port", "1", "-p", "2"], "error", 2, ("twice",)),
            # The element that the user wrote, though -fa becomes two words.
            ("llamacpp", ["-fa", "--parallel=8"], "error", 1, ("two arguments",)),
            ("llamacpp", ["-fa", "-c", "x"], "error", 2, ("whole number", "'x'")),
        ],
    )
    def test_what_is_wrong_is_told_of_the_element(
        self, backend: str, args: list[str], severity: str, index: int, words: tuple[str, ...]
    ) -> None:
        fleet = fleet_of(GGUF, playground(**uses(backend, args=args)), runtimes=Edition.CURRENT)
        (problem,) = fleet.problems
        assert (problem.severity, problem.path) == (severity, f"spec.backendRuntimeConfig.args[{index}]")
        assert all(word in problem.reason for word in words)
        assert fleet.rendered

    @pytest.mark.parametrize("backend", ["vllm", "sglang", "llamacpp"])
    def test_what_is_recommended_may_be_overridden(self, backend: str) -> None:
        spec = uses(backend, args=["--port", "9000", "--host", "127.0.0.1"])
        assert not fleet_of(GGUF, playground(**spec)).problems

    @pytest.mark.parametrize(
        ("args", "version", "severity"),
        [
            (["--model", "x", "--speculative-model", "d"], "v0.8.3", "error"),
            (["--model", "x", "--speculative-model", "d"], "v0.7.3", None),
            (["--model", "x", "--zzz"], "v0.8.3", "error"),
            (["--model", "x", "--zzz"], "v0.99.0", "warning"),
        ],
    )
    def test_recommended_arguments_are_held_against_the_version_too(
        self, args: list[str], version: str, severity: str | None
    ) -> None:
        own = runtime(image="vllm/vllm-openai", version="v0.7.3", recommendedConfigs=config(args=args))
        found = fleet_of(MODEL, own, playground(**uses(version=version))).problems
        assert [(each.severity, each.path) for each in found] == [
            (severity, "spec.backendRuntimeConfig.configName") for _ in range(severity is not None)
        ]
        assert all("BackendRuntime 'own', configuration 'default'" in each.reason for each in found)

    @pytest.mark.parametrize(
        ("command", "recommended"), [(["/mine"], ["--zzz"]), (["python3", "/mine.py"], []), (None, ["sh", "/mine"])]
    )
    @pytest.mark.parametrize(("engine", "args"), [("llamacpp", ["-fa", "--yyy"]), ("tgi", ["--zzz", "-p", "0"])])
    def test_what_another_program_reads_is_left_alone(
        self, engine: str, args: list[str], command: list[str] | None, recommended: list[str]
    ) -> None:
        started = {"command": command} if command else {}
        own = runtime(engine, **started, recommendedConfigs=config(args=[*recommended, "-p", "1"]))
        spec = uses(engine, version="latest", args=args)
        assert container(MODEL, own, playground(**spec))["args"] == [*recommended, "-p", "1", *args]
        assert not fleet_of(MODEL, own, playground(**spec)).problems

    def test_a_private_mirror_is_known_by_the_name_of_its_runtime(self) -> None:
        own = runtime("vllm", image="registry.example.com/mirror", version="v0.8.3")
        problem = the_error(MODEL, own, playground(**uses("vllm", args=["--port", "x"])))
        assert problem.path == "spec.backendRuntimeConfig.args[1]"

    @pytest.mark.parametrize(
        ("backend", "version", "args", "path"),
        [
            ("llamacpp", "server-b6500", ["-fa"], "spec.backendRuntimeConfig.args[0]"),
            ("tgi", "3.3.6", ["--port", "9000"], "spec.backendRuntimeConfig.args[0]"),
        ],
    )
    def test_the_operator_rewrites_nothing(self, backend: str, version: str, args: list[str], path: str) -> None:
        """It hands on what is written, and the engine stops."""
        documents = GGUF, playground(**uses(backend, version=version, args=args))
        assert not fleet_of(*documents).problems
        assert the_error(*documents, realization=Realization.OPERATOR).path == path
