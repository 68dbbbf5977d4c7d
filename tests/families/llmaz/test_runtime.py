"""llmaz spec 2.3 to 2.5: configuration, arguments, environment, resources and port of the model runner."""

import json
from typing import Any

import pytest

from components.fleet.words import Edition, Realization
from tests.fleets import GPU, container, fleet_of, objects, open_model, playground, pod, runtime, the_error, warnings

MODEL = open_model()
DRAFTED = {"models": [{"name": "m"}, {"name": "d", "role": "draft"}]}


def configs(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "args": [name]} for name in names]


def config(**fields: Any) -> list[dict[str, Any]]:
    return [{"name": "default", **fields}]


def uses(backend: str = "own", **fields: Any) -> dict[str, Any]:
    return {"backendRuntimeConfig": {"backendName": backend, **fields}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (uses(), "default"),
        (uses(configName="odd"), "odd"),
        (uses() | {"modelClaims": {"models": [{"name": "m"}]}}, "default"),
        (uses() | {"modelClaims": DRAFTED}, "speculative-decoding"),
        (uses(configName="default") | {"modelClaims": DRAFTED}, "default"),
    ],
)
def test_the_configuration_is_named_or_inferred(spec: Any, expected: str) -> None:
    own = runtime(recommendedConfigs=configs("default", "odd", "speculative-decoding"))
    assert container(MODEL, open_model("d"), own, playground(**spec))["args"] == [expected]


@pytest.mark.parametrize(
    ("arg", "expected"),
    [
        ("{{ .ModelName }}", "m"),
        ("{{.ModelName}}", "m"),
        ("a={{ .ModelName }},b={{.ModelPath}}", "a=m,b=/workspace/models/models--Qwen--Qwen2-0.5B"),
        ("serve {{ .ModelName }} &\nrun {{ .ModelName }}\n", "serve m &\nrun m\n"),
        ("{{ ModelName }}", "{{ ModelName }}"),
        ("{ .ModelName }", "{ .ModelName }"),
    ],
)
def test_recommended_arguments_are_templates(arg: str, expected: str) -> None:
    assert container(MODEL, runtime(recommendedConfigs=config(args=[arg])), playground(**uses()))["args"] == [
        expected
    ]


def test_nothing_else_is_a_template() -> None:
    text = "{{ .ModelName }}"
    own = runtime(command=[text], envs=[{"name": "E", "value": text}])
    got = container(MODEL, own, playground(**uses(args=[text])))
    assert (got["command"], got["args"], got["env"][0]["value"]) == ([text], [text], text)


@pytest.mark.parametrize("key", ["Nope", "DraftModelPath", "TP"])
def test_an_unknown_placeholder_is_an_error(key: str) -> None:
    own = runtime(recommendedConfigs=config(args=[f"{{{{ .{key} }}}}"]))
    problem = the_error(MODEL, own, playground(**uses()))
    assert key in problem.reason
    assert "ModelPath" in problem.reason


def test_arguments_of_the_user_come_last() -> None:
    own = runtime(recommendedConfigs=config(args=["a"]))
    assert container(MODEL, own, playground(**uses(args=["b", "c"])))["args"] == ["a", "b", "c"]


def test_a_playground_without_backend_uses_vllm() -> None:
    assert container(MODEL, playground())["image"] == "vllm/vllm-openai:v0.7.3"


def test_the_version_of_the_user_replaces_the_tag() -> None:
    assert container(MODEL, runtime(), playground(**uses(version="v2")))["image"] == "example.com/engine:v2"


def test_a_runtime_of_the_user_hides_the_shipped_one() -> None:
    assert container(MODEL, runtime("vllm"), playground())["image"] == "example.com/engine:v1"


def env(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def test_environment_keeps_its_order_overrides_in_place_and_appends() -> None:
    own = runtime(envs=env(Z="1", A="2", M="3"))
    got = container(MODEL, own, playground(**uses(envs=env(X="4", A="5", B="6"))))["env"]
    assert got == env(Z="1", A="5", M="3", X="4", B="6")


def test_hooks_and_probes_are_copied_as_they_are() -> None:
    probe = {"httpGet": {"path": "/ok", "port": "http"}, "timeoutSeconds": 7}
    hook = {"preStop": {"sleep": {"seconds": 5}}}
    own = runtime(lifecycle=hook, livenessProbe=probe, readinessProbe=probe, startupProbe=probe)
    got = container(MODEL, own, playground(**uses()))
    assert got["lifecycle"] == hook
    assert got["livenessProbe"] == got["readinessProbe"] == got["startupProbe"] == probe


def needs(cpu: str | None = None, memory: str | None = None, **other: Any) -> dict[str, Any]:
    named = {"cpu": cpu, "memory": memory, **other}
    return {key: value for key, value in named.items() if value is not None}


RECOMMENDED = {"limits": needs("4", "8Gi"), "requests": needs("4", "8Gi")}


@pytest.mark.parametrize(
    ("user", "limits", "requests"),
    [
        (None, needs("4", "8Gi"), needs("4", "8Gi")),
        ({"limits": needs("8")}, needs("8", "8Gi"), needs("4", "8Gi")),
        ({"limits": needs("2")}, needs("4", "8Gi"), needs("4", "8Gi")),
        ({"requests": needs("6")}, needs("6", "8Gi"), needs("6", "8Gi")),
        ({"limits": needs("2"), "requests": needs("2")}, needs("2", "8Gi"), needs("2", "8Gi")),
        ({"limits": needs(memory="500Mi")}, needs("4", "8Gi"), needs("4", "8Gi")),
        ({"limits": needs(gpu="1")}, needs("4", "8Gi", gpu="1"), needs("4", "8Gi")),
    ],
)
def test_resources_merge_per_key_and_limits_follow_requests(user: Any, limits: Any, requests: Any) -> None:
    own = runtime(recommendedConfigs=config(resources=RECOMMENDED))
    spec = uses(resources=user) if user else uses()
    assert container(MODEL, own, playground(**spec))["resources"] == {"limits": limits, "requests": requests}


def test_a_request_without_limit_gets_one() -> None:
    got = container(MODEL, runtime(), playground(**uses(resources={"requests": needs("1", "1Gi")})))
    assert got["resources"] == {"limits": needs("1", "1Gi"), "requests": needs("1", "1Gi")}


def test_recommended_resources_are_not_touched_without_the_user() -> None:
    own = runtime(recommendedConfigs=config(resources={"requests": needs("1")}))
    assert container(MODEL, own, playground(**uses()))["resources"] == {"requests": needs("1")}


def test_no_resources_at_all_leave_the_field_out() -> None:
    assert "resources" not in container(MODEL, runtime(), playground(**uses()))


@pytest.mark.parametrize(
    ("recommended", "user", "size"), [("2Gi", None, "2Gi"), ("2Gi", "8Gi", "8Gi"), (None, "1Gi", "1Gi")]
)
def test_shared_memory_is_a_volume_in_memory(recommended: Any, user: Any, size: str) -> None:
    own = runtime(recommendedConfigs=config(**({"sharedMemorySize": recommended} if recommended else {})))
    spec = pod(MODEL, own, playground(**uses(**({"sharedMemorySize": user} if user else {}))))
    assert spec["volumes"][0] == {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    assert spec["containers"][0]["volumeMounts"][0] == {"name": "dshm", "mountPath": "/dev/shm"}


def test_no_shared_memory_unless_asked_for() -> None:
    spec = pod(MODEL, runtime(), playground(**uses()))
    assert [volume["name"] for volume in spec["volumes"]] == ["model-volume"]


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
        """``-p`` is the prompt of llama.cpp."""
        model = open_model(source={"modelHub": {"modelID": "a/b", "filename": "b.gguf"}})
        got = container(model, playground(**uses("llamacpp", args=["-p", "9000"])))
        assert got["ports"][0]["containerPort"] == 8080


class TestSpeculativeDecoding:
    """Single flags until vLLM v0.8.1, one JSON option from v0.8.2 (vllm-project/vllm#14434, #15466)."""

    DRAFT = open_model("d", "Qwen/Draft")

    def args(self, **fields: Any) -> list[str]:
        options = {"runtimes": fields.pop("runtimes", Edition.UPSTREAM)}
        spec = {"modelClaims": DRAFTED, **uses("vllm", **fields)}
        found: list[str] = container(MODEL, self.DRAFT, playground(**spec), **options)["args"]
        return found

    @pytest.mark.parametrize("version", ["v0.7.3", "v0.8.1", "0.6.0"])
    def test_old_versions_get_single_flags(self, version: str) -> None:
        args = self.args(version=version)
        assert args[args.index("--speculative_model") + 1] == "/workspace/models/models--Qwen--Draft"
        assert args[args.index("--num_speculative_tokens") + 1] == "5"
        assert "--speculative-config" not in args

    @pytest.mark.parametrize(
        "fields",
        [{"version": "v0.8.2"}, {"version": "v0.10.1.1"}, {"version": "nightly"}, {"runtimes": Edition.CURRENT}],
    )
    def test_new_versions_get_the_json_option(self, fields: Any) -> None:
        args = self.args(**fields)
        assert json.loads(args[args.index("--speculative-config") + 1]) == {
            "model": "/workspace/models/models--Qwen--Draft",
            "num_speculative_tokens": 5,
        }
        assert not {"--speculative_model", "--num_speculative_tokens"} & set(args)

    def test_flags_that_the_user_wrote_are_left_alone(self) -> None:
        args = self.args(version="v0.8.2", args=["--num_speculative_tokens", "3"])
        assert args[-2:] == ["--num_speculative_tokens", "3"]

    def test_flags_that_the_version_refuses_are_an_error(self) -> None:
        spec = uses("vllm", version="v0.9.0", args=["--num_speculative_tokens", "3"]) | {"modelClaims": DRAFTED}
        problem = the_error(MODEL, self.DRAFT, playground(**spec))
        assert problem.path == "spec.backendRuntimeConfig.args[0]"
        assert "--speculative-config" in problem.reason

    def test_flavors_of_the_draft_do_not_count(self) -> None:
        draft = open_model("d", "Qwen/Draft", [GPU])
        got = container(MODEL, draft, playground(modelClaims=DRAFTED))
        assert "nvidia.com/gpu" not in got["resources"]["limits"]


@pytest.mark.parametrize("backend", ["sglang", "tgi", "ollama", "tensorrt-llm"])
def test_backends_without_speculative_decoding_say_so(backend: str) -> None:
    problem = the_error(MODEL, open_model("d"), playground(modelClaims=DRAFTED, **uses(backend)))
    assert problem.path == "spec.backendRuntimeConfig.configName"
    assert "speculative-decoding" in problem.reason
    assert "default" in problem.reason


def test_an_unknown_backend_names_those_there_are() -> None:
    problem = the_error(MODEL, playground(**uses("vlm")))
    assert problem.path == "spec.backendRuntimeConfig.backendName"
    for word in ("vlm", "did you mean 'vllm'", "llamacpp", "ollama", "sglang", "tensorrt-llm", "tgi"):
        assert word in problem.reason


def test_a_backend_without_configurations_cannot_serve() -> None:
    problem = the_error(MODEL, runtime(recommendedConfigs=[]), playground(**uses()))
    assert problem.path == "spec.backendRuntimeConfig.configName"


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
            ("vllm", ["--enforce-eager", "--max-modle-len", "8"], "warning", 1, ("did you mean '--max-model-len'",)),
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
        assert bool(fleet.rendered) is (severity == "warning")

    @pytest.mark.parametrize("backend", ["vllm", "sglang", "llamacpp"])
    def test_what_is_recommended_may_be_overridden(self, backend: str) -> None:
        spec = uses(backend, args=["--port", "9000", "--host", "127.0.0.1"])
        assert not fleet_of(GGUF, playground(**spec)).problems

    @pytest.mark.parametrize(
        ("args", "version", "severity"),
        [
            (["--model", "x", "--speculative-model", "d"], "v0.8.3", "error"),
            (["--model", "x", "--speculative-model", "d"], "v0.7.3", None),
            (["--model", "x", "--zzz"], "v0.8.3", "warning"),
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
