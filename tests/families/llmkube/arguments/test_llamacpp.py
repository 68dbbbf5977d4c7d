"""Each field for llama.cpp, by build (LLMKube spec 2.1, 4.3, 8)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.families.llmkube.api.samples import Document
from tests.families.llmkube.arguments.support import LLAMA, llama


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ""),
        ({"contextSize": 4096}, "--ctx-size 4096"),
        ({"ropeScaling": {"type": "linear"}}, "--rope-scaling linear"),
        ({"ropeScaling": {"type": "yarn", "factor": "1.5"}}, "--rope-scaling yarn --rope-scale 1.5"),
        ({"parallelSlots": 1}, "--parallel 1"),
        ({"jinja": True}, "--jinja"),
        ({"cacheTypeK": "f16"}, "--cache-type-k f16"),
        ({"cacheTypeV": "f32"}, "--cache-type-v f32"),
        ({"moeCPULayers": 3}, "--n-cpu-moe 3"),
        ({"moeCPULayers": 0}, ""),
        ({"moeCPUOffload": False, "noKvOffload": False, "noWarmup": False}, ""),
        ({"tensorOverrides": ["a=CPU", "a=CPU"]}, "--override-tensor a=CPU --override-tensor a=CPU"),
        ({"batchSize": 1}, "--batch-size 1"),
        ({"uBatchSize": 1}, "--ubatch-size 1"),
        ({"noWarmup": True}, "--no-warmup"),
        ({"reasoningBudget": 100}, "--reasoning-budget 100"),
        ({"metadataOverrides": ["a=bool:false"]}, "--override-kv a=bool:false"),
        ({"extraArgs": ["--log-disable"]}, "--log-disable"),
    ],
)
def test_each_field_of_llamacpp(spec: Document, expected: str) -> None:
    started = llama(spec)
    assert started.own == expected.split()
    assert not started.problems


@pytest.mark.parametrize(
    ("gpus", "gpu", "expected"),
    [
        (0, None, []),
        (1, None, ["--n-gpu-layers", "99"]),
        (1, {"layers": -1}, ["--n-gpu-layers", "99"]),
        (1, {"layers": 20}, ["--n-gpu-layers", "20"]),
        (2, None, ["--n-gpu-layers", "99", "--split-mode", "layer", "--tensor-split", "1,1"]),
        (2, {"sharding": {}}, ["--n-gpu-layers", "99", "--split-mode", "layer", "--tensor-split", "1,1"]),
        (
            2,
            {"sharding": {"strategy": "row"}},
            ["--n-gpu-layers", "99", "--split-mode", "row", "--tensor-split", "1,1"],
        ),
        (
            3,
            {"sharding": {"strategy": "pipeline"}},
            ["--n-gpu-layers", "99", "--split-mode", "layer", "--tensor-split", "1,1,1"],
        ),
        (
            2,
            {"sharding": {"layerSplit": ["0-29", "30-39"]}},
            ["--n-gpu-layers", "99", "--split-mode", "layer", "--tensor-split", "3,1"],
        ),
    ],
)
def test_llamacpp_on_gpus(gpus: int, gpu: Document | None, expected: list[str]) -> None:
    started = llama(gpus=gpus, gpu=gpu)
    assert started.own == expected
    assert not started.problems


def test_no_layers_on_gpus_is_what_zero_layers_say() -> None:
    """Deviation: upstream takes 0 for unset."""
    started = llama(gpus=1, gpu={"layers": 0})
    assert started.own == ["--n-gpu-layers", "0"]
    assert "layers 0" in started.warnings["spec.modelRef"]


def test_sharding_none_uses_one_gpu() -> None:
    started = llama(gpus=2, gpu={"sharding": {"strategy": "none"}})
    assert started.own == ["--n-gpu-layers", "99", "--split-mode", "none"]
    assert "one of 2 GPUs" in started.warnings["spec.modelRef"]


@pytest.mark.parametrize("split", [["0-19"], ["0-19", "x"], ["0-19", "30-20"], ["0-19", "-3"], ["1-2", "3-4", "5-6"]])
def test_a_layer_split_that_is_none_is_told_and_shared_equally(split: list[str]) -> None:
    started = llama(gpus=2, gpu={"sharding": {"layerSplit": split}})
    assert started.own[-2:] == ["--tensor-split", "1,1"]
    assert "2 entries" in started.warnings["spec.modelRef"]


@pytest.mark.parametrize(
    ("gpus", "gpu"), [(0, {"layers": 5}), (0, {"sharding": {}}), (1, {"sharding": {"layerSplit": ["0-9"]}})]
)
def test_layers_and_sharding_without_gpus_for_them(gpus: int, gpu: Document) -> None:
    assert set(llama(gpus=gpus, gpu=gpu).warnings) == {"spec.modelRef"}


@given(sizes=st.lists(st.integers(1, 200), min_size=2, max_size=8))
def test_shares_are_the_sizes_in_lowest_terms(sizes: list[int]) -> None:
    starts = [sum(sizes[:index]) for index in range(len(sizes))]
    split = [f"{start}-{start + size - 1}" for start, size in zip(starts, sizes, strict=True)]
    shares = [int(s) for s in llama(gpus=len(sizes), gpu={"sharding": {"layerSplit": split}}).own[-1].split(",")]
    assert [share * sizes[0] for share in shares] == [size * shares[0] for size in sizes]
    assert not any(all(share % factor == 0 for share in shares) for factor in range(2, 201))


@pytest.mark.parametrize(
    ("wanted", "gpus", "tag", "expected"),
    [
        (True, 1, "server-b6325", ["--flash-attn", "on"]),
        (True, 1, "server", ["--flash-attn", "on"]),
        (True, 1, "server-cuda-b6324", ["--flash-attn"]),
        (False, 1, "server-b6325", ["--flash-attn", "off"]),
        (False, 0, "server-b6325", ["--flash-attn", "off"]),
        (False, 1, "server-b6324", []),
        (None, 1, "server", []),
    ],
)
def test_flash_attention_by_version(wanted: bool | None, gpus: int, tag: str, expected: list[str]) -> None:
    spec = {} if wanted is None else {"flashAttention": wanted}
    started = llama(spec, gpus=gpus, image=f"ghcr.io/ggml-org/llama.cpp:{tag}")
    assert started.own[2 * gpus :] == expected
    assert not started.problems


def test_flash_attention_without_a_gpu_is_left_to_the_server() -> None:
    started = llama({"flashAttention": True})
    assert started.own == []
    assert "GPU" in started.warnings["spec.flashAttention"]


@pytest.mark.parametrize(
    ("tag", "expected"), [("server", ["--no-jinja"]), ("server-b8000", ["--no-jinja"]), ("server-b6500", [])]
)
def test_jinja_false_turns_off_what_is_on_by_default(tag: str, expected: list[str]) -> None:
    assert llama({"jinja": False}, image=f"ghcr.io/ggml-org/llama.cpp:{tag}").own == expected


def test_custom_cache_types_win_each_side_by_itself() -> None:
    started = llama({"cacheTypeK": "q8_0", "cacheTypeCustomK": "turbo4", "cacheTypeV": "f16"})
    assert started.own == ["--cache-type-k", "turbo4", "--cache-type-v", "f16"]
    assert set(started.warnings) == {"spec.cacheTypeK", "spec.cacheTypeCustomK"}


@pytest.mark.parametrize("kind", ["q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"])
def test_a_quantized_value_cache_needs_flash_attention(kind: str) -> None:
    assert set(llama({"cacheTypeV": kind, "flashAttention": False}, gpus=1).errors) == {"spec.cacheTypeV"}
    assert not llama({"cacheTypeV": kind}, gpus=1).problems
    assert set(llama({"cacheTypeV": kind}, gpus=1, image=f"{LLAMA}b6000").errors) == {"spec.cacheTypeV"}
    assert not llama({"cacheTypeV": kind, "flashAttention": True}, gpus=1, image=f"{LLAMA}b6000").problems
    assert not llama({"cacheTypeV": kind, "extraArgs": ["-fa"]}, gpus=1, image=f"{LLAMA}b6000").problems


def test_a_whole_value_cache_needs_none() -> None:
    assert not llama({"cacheTypeV": "f16", "flashAttention": False}, gpus=1).problems


def test_longrope_is_refused_with_its_successor() -> None:
    started = llama({"ropeScaling": {"type": "longrope"}})
    reason = "--rope-scaling of llamacpp (server) does not accept 'longrope'; use yarn"
    assert started.errors == {"spec.ropeScaling.type": reason}


def test_an_image_of_ones_own_may_know_more() -> None:
    started = llama({"ropeScaling": {"type": "longrope"}}, image="registry.example.com/mine:1.0")
    assert not started.errors
    assert set(started.warnings) == {"spec.ropeScaling.type"}


@pytest.mark.parametrize("name", ["moeCPUOffload", "noKvOffload"])
def test_what_stays_on_the_host_needs_its_memory(name: str) -> None:
    flag = {"moeCPUOffload": "--cpu-moe", "noKvOffload": "--no-kv-offload"}[name]
    started = llama({name: True})
    assert started.own == [flag]
    assert "hostMemory" in started.warnings[f"spec.{name}"]
    for memory in ("memory", "hostMemory"):
        assert not llama({name: True, "resources": {memory: "8Gi"}}).problems


def test_layers_beside_all_experts_on_the_cpu() -> None:
    started = llama({"moeCPUOffload": True, "moeCPULayers": 2, "resources": {"memory": "8Gi"}})
    assert started.own == ["--cpu-moe", "--n-cpu-moe", "2"]
    assert set(started.warnings) == {"spec.moeCPULayers"}


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"reasoningBudget": 0}, set()),
        ({"reasoningBudget": 5}, {"spec.reasoningBudget"}),
        ({"reasoningBudget": 0, "reasoningBudgetMessage": "x"}, {"spec.reasoningBudgetMessage"}),
    ],
)
def test_reasoning_budgets_of_a_server_from_before_march_2026(spec: Document, errors: set[str]) -> None:
    assert set(llama(spec, image=f"{LLAMA}b6500").errors) == errors
    assert not llama(spec).problems


def test_a_message_without_a_budget_is_left_out() -> None:
    started = llama({"reasoningBudgetMessage": "x"})
    assert started.own == []
    assert set(started.warnings) == {"spec.reasoningBudgetMessage"}


def test_experts_of_some_layers_need_a_server_that_knows_them() -> None:
    assert not llama({"moeCPULayers": 1}, image=f"{LLAMA}b6089").problems
    assert set(llama({"moeCPULayers": 1}, image=f"{LLAMA}b6088").errors) == {"spec.moeCPULayers"}
