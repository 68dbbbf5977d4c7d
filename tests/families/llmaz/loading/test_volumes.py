"""Where weights are mounted, and where they are kept between starts."""

from pathlib import Path
from typing import Any

import pytest

from components.fleet.options import ModelCache
from tests.families.llmaz.loading.sources import PRINTS, own, pairs
from tests.fleets import (
    objects,
    open_model,
    playground,
    pod,
    runner,
    service,
)
from tests.kubelet import started


def test_a_host_model_is_mounted_where_it_is_and_nothing_else() -> None:
    spec = pod(open_model(source="host:///data/m"), PRINTS, playground(**own()))
    assert spec["volumes"] == [{"name": "model-volume", "hostPath": {"path": "/data/m"}}]
    assert spec["containers"][0]["volumeMounts"] == [
        {"name": "model-volume", "mountPath": "/data/m", "readOnly": True}
    ]
    assert "initContainers" not in spec


def test_an_ollama_model_needs_no_volume() -> None:
    spec = pod(open_model(source="ollama://qwen2:0.5b"), PRINTS, playground(**own()))
    assert "volumes" not in spec
    assert "volumeMounts" not in spec["containers"][0]
    assert "initContainers" not in spec


def claims(*models: str) -> dict[str, Any]:
    roles = [{"name": models[0], "role": "main"}, *({"name": m, "role": "draft"} for m in models[1:])]
    return {"models": roles}


def test_host_and_loaded_models_have_volumes_of_their_own() -> None:
    spec = pod(
        open_model("big", "host:///data/big"), open_model("small", "a/small"), PRINTS,
        playground(**own(modelClaims=claims("big", "small"), backendRuntimeConfig={
            "backendName": "own", "configName": "default"})),
    )  # fmt: skip
    names = [volume["name"] for volume in spec["volumes"]]
    assert sorted(names) == sorted(set(names))
    assert {"name": "model-volume", "emptyDir": {}} in spec["volumes"]
    assert [v["hostPath"]["path"] for v in spec["volumes"] if "hostPath" in v] == ["/data/big"]
    assert [mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]] == [
        "/data/big",
        "/workspace/models/",
    ]


def test_each_model_has_a_loader_in_model_order_with_one_volume() -> None:
    big = {"modelHub": {"modelID": "a/b", "filename": "big.gguf"}}
    small = {"modelHub": {"modelID": "a/b", "filename": "small.gguf"}}
    refs = [{"name": "small", "role": "draft"}, {"name": "big"}]
    spec = pod(
        open_model("big", big), open_model("small", small),
        playground(modelClaims={"models": refs}, backendRuntimeConfig={"backendName": "llamacpp"}),
    )  # fmt: skip
    loaders = {
        c["name"]: next(e["value"] for e in c["env"] if e["name"] == "MODEL_FILENAME") for c in spec["initContainers"]
    }
    assert loaders == {"model-loader": "big.gguf", "model-loader-1": "small.gguf"}
    assert spec["volumes"] == [{"name": "model-volume", "emptyDir": {}}]
    args = spec["containers"][0]["args"]
    assert args[args.index("-m") + 1] == "/workspace/models/big.gguf"
    assert args[args.index("-md") + 1] == "/workspace/models/small.gguf"


def test_both_templates_of_a_service_get_loader_and_volume_but_only_the_runner_mounts_it() -> None:
    sidecar = {"name": "sidecar", "image": "example.com/sidecar:v1"}
    template = {
        "size": 2,
        "leaderTemplate": {"spec": {"containers": [runner(), sidecar]}},
        "workerTemplate": {"spec": {"containers": [runner(env=pairs(A="1"))]}},
    }
    made = objects(open_model(), service(workloadTemplate=template))["LeaderWorkerSet"]
    group = made["spec"]["leaderWorkerTemplate"]
    for part in ("leaderTemplate", "workerTemplate"):
        spec = group[part]["spec"]
        assert [c["name"] for c in spec["initContainers"]] == ["model-loader"]
        assert spec["volumes"] == [{"name": "model-volume", "emptyDir": {}}]
        assert spec["containers"][0]["volumeMounts"][0]["mountPath"] == "/workspace/models/"
    assert "volumeMounts" not in group["leaderTemplate"]["spec"]["containers"][1]
    assert group["workerTemplate"]["spec"]["initContainers"][0]["env"][0] == {"name": "A", "value": "1"}


class TestCache:
    """llmaz spec 6.1: a restarted pod does not load again what is complete."""

    CLAIM = ModelCache(claim="weights")

    @pytest.mark.parametrize(
        ("cache", "volume"),
        [
            (CLAIM, {"persistentVolumeClaim": {"claimName": "weights"}}),
            (
                ModelCache(host_path="/mnt/nvme"),
                {"hostPath": {"path": "/mnt/nvme", "type": "DirectoryOrCreate"}},
            ),
        ],
    )
    def test_it_takes_the_place_of_the_empty_dir(self, cache: ModelCache, volume: Any) -> None:
        spec = pod(open_model(), PRINTS, playground(**own()), cache=cache)
        assert spec["volumes"] == [{"name": "model-volume", **volume}]
        assert spec["containers"][0]["volumeMounts"][0]["readOnly"] is True

    def test_loader_and_engine_see_the_same_folder(self) -> None:
        spec = pod(open_model(), PRINTS, playground(**own()), cache=self.CLAIM)
        (loads,) = spec["initContainers"][0]["volumeMounts"]
        (serves,) = spec["containers"][0]["volumeMounts"]
        assert loads["subPath"] == serves["subPath"]

    def test_another_revision_has_another_folder(self) -> None:
        def folder(revision: str) -> str:
            model = open_model(source={"modelHub": {"modelID": "a/b", "revision": revision}})
            spec = pod(model, PRINTS, playground(**own()), cache=self.CLAIM)
            path: str = spec["containers"][0]["volumeMounts"][0]["subPath"]
            return path

        assert folder("main") != folder("v2")
        assert folder("main") == folder("main")

    def test_a_complete_load_is_not_repeated_and_a_broken_one_is(self, tmp_path: Path) -> None:
        spec = pod(open_model(), PRINTS, playground(**own()), cache=self.CLAIM)
        loader = spec["initContainers"][0]
        log = tmp_path / "log"
        (tmp_path / "bin").mkdir()
        python = tmp_path / "bin" / "python"

        def load(exit_code: int) -> int:
            python.write_text(f"#!/bin/sh\necho load >> {log}; exit {exit_code}\n")
            python.chmod(0o755)
            return started(loader, {}, tmp_path, {"/workspace/models/": f"{tmp_path}/"}).returncode

        assert load(3) != 0
        assert load(0) == 0
        assert load(0) == 0
        assert log.read_text() == "load\nload\n"

    def test_both_and_neither_place_are_refused(self) -> None:
        for arguments in ({}, {"claim": "a", "host_path": "/b"}):
            with pytest.raises(ValueError, match="exactly one"):
                ModelCache(**arguments)

    def test_models_without_loader_have_none(self) -> None:
        spec = pod(open_model(source="ollama://q"), PRINTS, playground(**own()), cache=self.CLAIM)
        assert "volumes" not in spec
