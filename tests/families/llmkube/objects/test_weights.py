"""How weights come into the pod, and where they are kept."""

import pytest

from components.fleet.options import ModelCache
from tests.families.llmkube.support import (
    KEY,
    Object,
    container,
    isvc,
    model,
    pod,
    problem,
    shared,
)
from tests.fleets import fleet_of


class TestWeights:
    def test_the_environments_cache_takes_the_place_of_the_claim(self) -> None:
        fleet = fleet_of(isvc(), model(), cache=ModelCache(claim="weights"))
        assert ("PersistentVolumeClaim", "ns", "llmkube-model-cache") not in shared(fleet)
        spec = pod(isvc(), model(), cache=ModelCache(claim="weights"))
        assert spec["volumes"] == [{"name": "model-cache", "persistentVolumeClaim": {"claimName": "weights"}}]

    def test_a_folder_of_the_node_is_written_by_root_to_whom_it_belongs(self) -> None:
        spec = pod(isvc(), model(), cache=ModelCache(host_path="/var/models"))
        assert spec["volumes"][0]["hostPath"] == {"path": "/var/models", "type": "DirectoryOrCreate"}
        assert spec["initContainers"][0]["securityContext"]["runAsUser"] == 0

    @pytest.mark.parametrize(
        ("runtime", "name"), [("vllm", "HF_HOME"), ("tgi", "HUGGINGFACE_HUB_CACHE"), ("llamacpp", "LLAMA_CACHE")]
    )
    def test_what_the_server_fetches_by_itself_is_kept_in_the_environments_cache(
        self, runtime: str, name: str
    ) -> None:
        service = isvc(runtime=runtime, image="example.com/x:1", skipModelInit=True)
        spec = pod(service, model(source="org/repo"), cache=ModelCache(claim="weights"))
        (runner,) = spec["containers"]
        assert runner["volumeMounts"] == [{"name": "model-cache", "mountPath": "/models"}]
        assert next(e["value"] for e in runner["env"] if e["name"] == name).startswith("/models/")
        assert "volumes" not in pod(service, model(source="org/repo"))

    def test_a_claim_of_the_model_needs_no_cache(self) -> None:
        source = "pvc://claim/m.gguf"
        spec = pod(isvc(), model(source=source), cache=ModelCache(claim="weights"))
        assert [volume["name"] for volume in spec["volumes"]] == ["model-source"]

    def test_a_name_of_a_model_becomes_a_file_name(self) -> None:
        assert container(isvc(model="a.b-c"), model("a.b-c"))["args"][1] == f"/models/{KEY}/a.b-c.gguf"

    def test_a_checksum_reaches_the_loader_in_lower_case(self) -> None:
        (loader,) = pod(isvc(), model(sha256="AB" * 32))["initContainers"]
        assert loader["env"][-1] == {"name": "MODEL_SHA256", "value": "ab" * 32}

    @pytest.mark.parametrize(
        "source",
        [
            "https://huggingface.co/org/name",
            "https://huggingface.co/org/name/",
            "https://huggingface.co/org/name/tree/main",
            "https://huggingface.co/org/name/blob/main/m.gguf",
            "https://hf.co/org/name?library=vllm",
        ],
    )
    @pytest.mark.parametrize("runtime", ["llamacpp", "vllm"])
    def test_a_page_of_the_hub_is_no_file(self, source: str, runtime: str) -> None:
        """LLMKube's own example had one; its authors found the page of HTML that the init container fetched."""
        found = problem(isvc(runtime=runtime, image="example.com/x:1"), model(source=source))
        assert found.path == "spec.modelRef"
        assert "org/name" in found.reason
        assert "skipModelInit" in found.reason
        assert "/resolve/" in found.reason

    @pytest.mark.parametrize(
        "source",
        [
            "https://huggingface.co/org/name/resolve/main/m.gguf",
            "https://huggingface.co/org/name/resolve/main/m.gguf?download=true",
            "https://example.com/org/name",
        ],
    )
    def test_a_file_of_the_hub_is_one(self, source: str) -> None:
        assert "initContainers" in pod(isvc(), model(source=source))

    @pytest.mark.parametrize("source", ["pvc://claim/m.gguf", "org/repo"])
    @pytest.mark.parametrize("field", [{"sha256": "0" * 64}, {"refreshPolicy": "OnChange"}])
    def test_what_nothing_here_fetches_is_not_verified_and_it_is_told(self, source: str, field: Object) -> None:
        service = isvc(skipModelInit=True, extraArgs=["-hf", "org/repo"] if source == "org/repo" else [])
        found = problem(service, model(source=source, **field), severity="warning")
        assert found.path == "spec.modelRef"
        assert next(iter(field)) in found.reason
