"""Components of programs in other languages, through the plugin's own protocol: Construct, as the engine calls it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.resources.plugin.engine import UNKNOWN, Plugin, RefusedError, output, printed, running, secret_value

FLAVOR = {"name": "l40s", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g6e.2xlarge"}}
QWEN = {"familyName": "qwen2", "modelId": "Qwen/Qwen2-7B-Instruct", "flavors": [FLAVOR]}
URN = "urn:pulumi:dev::proj::inference-platform:index:OpenModel::qwen"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"


@pytest.fixture(scope="module")
def plugin() -> Iterator[Plugin]:
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def manifest(plugin: Plugin) -> Any:
    """What ``${qwen.manifest}`` is."""
    return plugin.construct("OpenModel", "qwen", QWEN)["manifest"]


def refused(plugin: Plugin, kind: str, inputs: dict[str, Any], **rest: Any) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        plugin.construct(kind, "chat", inputs, **rest)
    assert "Traceback" not in caught.value.message
    assert "File " not in caught.value.message
    assert plugin.engine.registered == []
    return caught.value


FORMS: dict[str, Callable[[Any], tuple[Any, dict[str, list[str]]]]] = {
    "plain": lambda manifest: (manifest, {}),
    "plain, with its dependency beside it": lambda manifest: (manifest, {"model": [URN]}),
    "an output": lambda manifest: (output(manifest, of=(URN,)), {"model": [URN]}),
    "a map with outputs": lambda manifest: (
        {**manifest, "metadata": {"name": output("qwen", of=(URN,))}, "spec": output(manifest["spec"])},
        {"model": [URN]},
    ),
}


@pytest.mark.parametrize("preview", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_a_model_comes_from_another_component(plugin: Plugin, manifest: Any, form: str, preview: bool) -> None:
    """``model: ${qwen.manifest}`` in YAML, ``model: qwen.manifest`` in TypeScript."""
    model, dependencies = FORMS[form](manifest)
    inputs = {"model": model, "namespace": "models", "replicas": 2}
    state = plugin.construct("Playground", "chat", inputs, dependencies, preview=preview)
    (deployment,) = plugin.engine.of(DEPLOYMENT)
    assert deployment.inputs["spec"]["replicas"] == 2
    assert deployment.inputs["metadata"]["namespace"] == "models"
    assert "Qwen/Qwen2-7B-Instruct" in str(deployment.inputs)
    assert state["endpoint"].startswith("http://chat-lb.models")
    assert state["workloadName"] == "chat"


def test_every_argument_of_another_resource_is_read(plugin: Plugin, manifest: Any) -> None:
    """Nothing is lost of what an output holds, be it a number, a list or a map with keys of its own."""
    args = ["--max-model-len", output("4096", of=("urn:x",))]
    inputs = {
        "model": manifest,
        "replicas": output(3, of=("urn:x",)),
        "args": output(args),
        "limits": output({"cpu": 9}),
    }
    plugin.construct("Playground", "chat", inputs)
    (deployment,) = plugin.engine.of(DEPLOYMENT)
    container = deployment.inputs["spec"]["template"]["spec"]["containers"][0]
    assert deployment.inputs["spec"]["replicas"] == 3
    assert container["args"][-2:] == ["--max-model-len", "4096"]
    assert container["resources"]["limits"]["cpu"] in (9, "9")


def test_a_fleet_of_models_of_other_components(plugin: Plugin, manifest: Any) -> None:
    playground = {
        "apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Playground", "metadata": {"name": "chat"},
        "spec": {"modelClaim": {"modelName": "qwen"}},
    }  # fmt: skip
    models = [output(manifest, of=(URN,)), playground]
    settings = output({"podSecurity": "restricted", "networkPolicies": True})
    plugin.construct("ModelFleet", "fleet", {"manifests": models, "hardening": settings})
    assert [each.name for each in plugin.engine.of(DEPLOYMENT)] == ["fleet-models/chat"]
    assert plugin.engine.of("kubernetes:networking.k8s.io/v1:NetworkPolicy")


class TestNotPlain:
    """What decides what is created and is not there yet, or must not be shown, is told by its path."""

    @pytest.mark.parametrize("sent", [output(known=False, of=(URN,)), UNKNOWN])
    def test_a_model_that_is_not_known_yet(self, plugin: Plugin, sent: Any) -> None:
        error = refused(plugin, "Playground", {"model": sent}, preview=True)
        assert list(error.properties) == ["model"]
        assert (
            "found an output that is not known yet; it determines which resources are created"
            in error.properties["model"]
        )

    def test_the_field_of_a_model_that_is_not_known_yet(self, plugin: Plugin, manifest: Any) -> None:
        uri = output(known=False, of=("urn:bucket",))
        model = {**manifest, "spec": {**manifest["spec"], "source": {"uri": uri}}}
        error = refused(plugin, "Playground", {"model": model}, preview=True)
        assert list(error.properties) == ["model.spec.source.uri"]

    @pytest.mark.parametrize("secret", [output("hidden-Qx9", secret=True), secret_value("hidden-Qx9")])
    @pytest.mark.parametrize(
        ("argument", "place"),
        [
            (lambda secret: {"envs": [{"name": "TOKEN", "value": secret}]}, "envs"),
            (lambda secret: {"args": ["--max-model-len", "16384", "--api-key", secret]}, "args"),
            (lambda secret: {"args": output(["--api-key", secret], of=(URN,))}, "args"),
            (lambda secret: {"backendName": secret}, "backendName"),
            (lambda secret: {"limits": {"cpu": secret}, "configNam": "default"}, "limits"),
        ],
    )
    def test_a_secret_is_told_in_words_alone(
        self, plugin: Plugin, manifest: Any, secret: Any, argument: Callable[[Any], dict[str, Any]], place: str
    ) -> None:
        """The engine prints the value at each path that a plugin reports, secrets in clear."""
        inputs = {"model": manifest, **argument(secret)}
        error = refused(plugin, "Playground", inputs)
        shown = printed(error, inputs)
        assert "hidden-Qx9" not in shown
        assert "found a secret" in error.message
        assert f"chat: {place}" in error.message
        assert set(error.properties) == {"configNam"} & inputs.keys()

    @pytest.mark.parametrize(
        ("inputs", "hidden"),
        [
            ({"args": ["--api-key", "sk-plain-Qx9vB27"], "argss": 1}, "sk-plain-Qx9vB27"),
            ({"args": {"--api-key": "sk-plain-Qx9vB27"}}, "sk-plain-Qx9vB27"),
            ({"envs": {"HF_TOKEN": "hf_Qx9vB27aaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}, "hf_Qx9vB27"),
        ],
    )
    def test_a_secret_that_nobody_marked(self, plugin: Plugin, manifest: Any, inputs: Any, hidden: str) -> None:
        given = {"model": manifest, "replicas": "many", **inputs}
        with pytest.raises(RefusedError) as caught:
            plugin.construct("Playground", "chat", given)
        assert hidden not in printed(caught.value, given)

    def test_beside_a_secret_the_other_arguments_keep_their_paths(self, plugin: Plugin, manifest: Any) -> None:
        secret = {"args": ["--api-key", output("hidden-Qx9", secret=True)]}
        inputs = {"model": manifest, "backendName": output(known=False), "minReplicas": output(known=False), **secret}
        error = refused(plugin, "Playground", inputs, preview=True)
        assert set(error.properties) == {"backendName", "minReplicas"}
        assert "hidden-Qx9" not in printed(error, inputs)

    def test_the_rule_of_the_engine_shows_a_secret_at_a_path_above_it(self) -> None:
        """As it did of the plugin before: what these tests rest on."""
        inputs = {"args": ["--api-key", output("hidden-Qx9", secret=True)]}
        for path in ("", "args", "args[1]", "args.[1]", '["args"][1]'):
            error = RefusedError("refused", {path: "found a secret"})
            assert "hidden-Qx9" in printed(error, inputs), path
        for path in ("args[0]", "args[2]", "args[1].value", "other", "args[x]"):
            assert "hidden-Qx9" not in printed(RefusedError("refused", {path: "found a secret"}), inputs), path

    def test_all_of_them_at_once(self, plugin: Plugin, manifest: Any) -> None:
        later = output(known=False)
        inputs = {"model": manifest, "backendName": later, "minReplicas": later, "configNam": "default"}
        assert set(refused(plugin, "Playground", inputs, preview=True).properties) == {
            "backendName", "minReplicas", "configNam",
        }  # fmt: skip


class TestHandedOn:
    """What decides nothing stays what it is: known later, a secret, with its dependencies."""

    @pytest.mark.parametrize(
        "sent",
        [
            output("vpc-later", of=("urn:network",)),
            output("vpc-later", secret=True),
            output(known=False, of=("urn:network",)),
        ],
    )
    @pytest.mark.parametrize("key", ["vpcId", "values"])
    def test_an_id_that_a_controller_is_told(self, plugin: Plugin, key: str, sent: Any) -> None:
        inputs = {"clusterName": "prod", "region": "us-east-1", "vpcId": "vpc-1", "values": {"tag": {"vpc": "a"}}}
        inputs[key] = {"tag": {"vpc": sent}} if key == "values" else sent
        plugin.construct("LoadBalancerController", "controller", inputs, preview="value" not in sent)
        (release,) = plugin.engine.of("kubernetes:helm.sh/v3:Release")
        values = release.inputs["values"]
        received = values["tag"]["vpc"] if key == "values" else values["vpcId"]
        if sent["secret"]:
            assert received == secret_value("vpc-later")
        else:
            assert received == sent.get("value", UNKNOWN)


class TestWrong:
    """Errors keep their paths, in the words of the language."""

    @pytest.mark.parametrize(
        ("kind", "inputs", "path", "meant"),
        [
            ("Playground", {"modle": {}}, "modle", "model"),
            ("Playground", {"model": {}, "sharedMemorySzie": "1Gi"}, "sharedMemorySzie", "sharedMemorySize"),
            ("OpenModel", {"flavors": [{"nodeSelektor": {}}]}, "flavors[0].nodeSelektor", "nodeSelector"),
            ("ModelFleet", {"frontDoor": {"tls": {"issuerKnd": "x"}}}, "frontDoor.tls.issuerKnd", "issuerKind"),
            ("Network", {"clusterName": "a", "regoin": "us-east-1"}, "regoin", "region"),
            ("Cluster", {"region": "us-east-1", "adminRoleArn": []}, "adminRoleArn", "adminRoleArns"),
            ("CustomResources", {"kinds": ["Playgruond"]}, "kinds[0]", "Playground"),
            ("Keda", {"vlaues": {}}, "vlaues", "values"),
        ],
    )
    def test_a_key_that_is_none(
        self, plugin: Plugin, kind: str, inputs: dict[str, Any], path: str, meant: str
    ) -> None:
        error = refused(plugin, kind, inputs)
        assert f"did you mean '{meant}'?" in error.properties[path]

    def test_a_key_that_would_be_a_word_of_python(self, plugin: Plugin) -> None:
        """``global`` is ``global_`` in Python alone."""
        rules = [{"targetModels": [{"modelServerName": "a"}]}]
        limit = {"global": {"redis": {"adress": "r:6379"}}}
        error = refused(plugin, "ModelRoute", {"servers": [], "rules": rules, "rateLimit": limit})
        assert "did you mean 'address'?" in error.properties["rateLimit.global.redis.adress"]

    def test_a_value_that_the_contract_refuses(self, plugin: Plugin) -> None:
        error = refused(plugin, "OpenModel", {**QWEN, "hub": "Nowhere"})
        assert list(error.properties) == ["spec.source.modelHub.name"]

    def test_a_manifest_that_is_none(self, plugin: Plugin) -> None:
        error = refused(plugin, "Playground", {"model": {"name": "qwen"}})
        assert error.properties["model"].startswith(
            "must be the manifest of an OpenModel, found dict; pass OpenModel"
        )

    def test_what_is_required(self, plugin: Plugin) -> None:
        assert "found nothing" in refused(plugin, "Playground", {}).properties["model"]
        assert refused(plugin, "Karpenter", {}).properties["interruptionQueue"] == "is required"
