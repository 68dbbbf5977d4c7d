"""llmaz spec 2.3 to 2.5: configuration, arguments, environment, resources and port of the model runner."""

import json
from typing import Any

import pytest

from components.fleet.words import Edition
from tests.fleets import GPU, container, errors, fleet_of, open_model, playground, pod, runtime, the_error

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


TWICE = [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}, {"name": "A", "value": "2"}]
ONCE = [{"name": "B", "value": "$(A)"}, {"name": "A", "value": "2"}]


@pytest.mark.parametrize(
    ("own", "wanted", "path", "expected"),
    [
        (TWICE, {}, ("BackendRuntime", "spec.envs[0]"), ONCE),
        ([], {"envs": TWICE}, ("Playground", "spec.backendRuntimeConfig.envs[0]"), ONCE),
        (TWICE, {"envs": env(A="3")}, ("BackendRuntime", "spec.envs[0]"), [ONCE[0], {"name": "A", "value": "3"}]),
        (ONCE, {"envs": env(C="3")}, None, [*ONCE, {"name": "C", "value": "3"}]),
    ],
)
def test_of_a_variable_that_is_there_twice_the_last_one_counts(
    own: Any, wanted: Any, path: Any, expected: Any
) -> None:
    """As upstream's map keeps it (llmaz ``pkg/util/util.go``, MergeEnvs); its definitions take both."""
    documents = (MODEL, runtime(envs=own), playground(**uses(**wanted)))
    assert container(*documents)["env"] == expected
    found = [(p.kind, p.path) for p in fleet_of(*documents).problems if "is set again below" in p.reason]
    assert found == ([path] if path else [])
    assert not errors(fleet_of(*documents))


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


@pytest.mark.parametrize("size", [0, "0"])
def test_a_size_of_nothing_is_a_size(size: int | str) -> None:
    """Zero is no limit for Kubernetes; it replaces the recommended size like any other."""
    own = runtime(recommendedConfigs=config(sharedMemorySize="2Gi"))
    spec = pod(MODEL, own, playground(**uses(sharedMemorySize=size)))
    assert [volume["emptyDir"]["sizeLimit"] for volume in spec["volumes"] if volume["name"] == "dshm"] == [size]


def test_no_shared_memory_unless_asked_for() -> None:
    spec = pod(MODEL, runtime(), playground(**uses()))
    assert [volume["name"] for volume in spec["volumes"]] == ["model-volume"]


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
