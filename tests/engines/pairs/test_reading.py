"""How a command line says by what the key-value cache is handed over."""

import json

import pytest

from components.engines.command_line import CommandLine
from components.engines.pairs.reading import transfer_of
from components.engines.pairs.rows import Rdma, Stage, transfer_table
from components.engines.registry import engines
from components.engines.settings import Setting
from tests.engines.pairs.lines import FLAG, said, sglang, vllm

SERVER = "python3 -m vllm.entrypoints.openai.api_server"
TEXT = json.dumps(said("NixlConnector", "kv_consumer", backends=["UCX"]))


@pytest.mark.parametrize(
    "line",
    [
        vllm(None, FLAG, TEXT),
        vllm(None, f"{FLAG}={TEXT}"),
        vllm(None, "--kv_transfer_config", TEXT),
        vllm(None, FLAG, "{}", FLAG, TEXT),
        # Keys of their own (vLLM docs/features/nixl_connector_usage.md), which win over the JSON.
        vllm(
            None, f"{FLAG}.kv_connector", "NixlConnector", f"{FLAG}.kv_role=kv_consumer",
            f"{FLAG}.kv_connector_extra_config.backends+", "UCX", FLAG, '{"kv_connector":"P2pNcclConnector"}',
        ),
        CommandLine("vllm", "v0.20.0", [f"vllm serve /m --port 8000 \\\n  {FLAG} '{TEXT}' # as it is"], ["sh", "-c"]),
        CommandLine("vllm", "v0.20.0", ["-ec", f"sleep 1; exec {SERVER} {FLAG}='{TEXT}'"], ["/bin/bash"]),
        CommandLine("vllm", "v0.20.0", ["-c", 'date; exec "$@"', "serve", "vllm", "serve", FLAG, TEXT], ["sh"]),
    ],
)  # fmt: skip
def test_every_way_to_say_it(line: CommandLine) -> None:
    found = transfer_of(line)
    assert found
    assert (found.connector, found.role, found.config) == ("NixlConnector", Stage.DECODE, {"backends": ["UCX"]})
    assert not found.is_open


@pytest.mark.parametrize(
    "line",
    [
        vllm(),
        sglang(),
        CommandLine("vllm", "v0.20.0", ["python3 serve.py"], ["sh", "-c"]),
        CommandLine("vllm", "v0.20.0", [f"vllm serve {FLAG} 'never closed"], ["sh", "-c"]),
        CommandLine("vllm", "v0.20.0", [FLAG, TEXT], ["/app/start"]),
        CommandLine("ollama", "latest", ["serve", FLAG, TEXT]),
    ],
)
def test_nothing_is_said_or_read(line: CommandLine) -> None:
    assert transfer_of(line) is None


@pytest.mark.parametrize(
    "text", ["$(CONFIG)", "{", "[]", '"NixlConnector"', '{"kv_connector": "$(CONNECTOR)"}', "[" * 9999]
)
def test_what_cannot_be_read_yet_is_open(text: str) -> None:
    found = transfer_of(vllm(None, FLAG, text))
    assert found
    assert found.is_open


@pytest.mark.parametrize(
    ("args", "connector", "role", "is_open"),
    [
        (["--disaggregation-mode", "prefill"], "", Stage.PREFILL, False),
        (["--disaggregation-mode=decode", "--disaggregation-transfer-backend", "nixl"], "nixl", Stage.DECODE, False),
        (["--disaggregation-mode", "null"], "", None, False),
        (["--disaggregation-transfer-backend", "mooncake"], "mooncake", None, False),
        (["--disaggregation-mode", "$(MODE)"], "", None, True),
    ],
)
def test_sglang_has_flags_of_their_own(args: list[str], connector: str, role: Stage | None, is_open: bool) -> None:
    found = transfer_of(sglang(*args))
    assert found
    assert (found.connector, found.role, found.is_open) == (connector, role, is_open)


@pytest.mark.parametrize(
    ("line", "router"),
    [
        # kthena, pkg/kthena-router/connectors at 97b99f41: nixl passes on what prefill answers, http and lmcache ask
        # twice, mooncake is nixl for vLLM's plugin for Ascend.
        (vllm(said("NixlConnector")), "nixl"),
        (vllm(said("LMCacheConnectorV1")), "lmcache"),
        (vllm(said("ExampleConnector")), "http"),
        (vllm(said("MooncakeConnectorV1") | {"kv_connector_module_path": "vllm_ascend.x"}), "mooncake"),
        (vllm(said("MooncakeConnector"), tag="v0.14.0"), "nixl"),
        (vllm(said("MooncakeConnector"), tag="v0.20.0"), "mooncake-bootstrap"),
        (vllm(said("P2pNcclConnector")), "p2p-nccl"),
        (vllm(said("MultiConnector", connectors=[said("OffloadingConnector"), said("NixlConnector")])), "nixl"),
        (vllm(said("OffloadingConnector")), ""),
        (vllm(said("Own") | {"kv_connector_module_path": "own.module"}), ""),
        (sglang("--disaggregation-mode", "prefill"), "bootstrap"),
    ],
)
def test_what_a_router_must_speak(line: CommandLine, router: str) -> None:
    found = transfer_of(line)
    assert found
    assert found.router == router


@pytest.mark.parametrize(
    ("line", "variables", "need"),
    [
        (vllm(said("NixlConnector")), {}, Rdma.USEFUL),
        (vllm(said("NixlConnector", backends=["UCX", "LIBFABRIC"])), {}, Rdma.REQUIRED),
        (vllm(said("NixlConnector", backends="UCX")), {}, Rdma.USEFUL),
        (vllm(said("MooncakeConnector")), {}, Rdma.REQUIRED),
        (vllm(said("MooncakeConnector", mooncake_protocol="tcp")), {}, Rdma.NONE),
        (vllm(said("MooncakeConnector")), {"MC_FORCE_TCP": "1"}, Rdma.NONE),
        (vllm(said("MultiConnector", connectors=[said(), said("MooncakeConnector")])), {}, Rdma.REQUIRED),
        (vllm(said("ExampleConnector")), {}, Rdma.NONE),
        (sglang("--disaggregation-mode", "prefill"), {}, Rdma.REQUIRED),
        (sglang("--disaggregation-mode", "prefill"), {"MOONCAKE_PROTOCOL": "tcp"}, Rdma.NONE),
        (sglang("--disaggregation-mode", "prefill"), {"MOONCAKE_PROTOCOL": "efa"}, Rdma.REQUIRED),
        (sglang("--disaggregation-mode=prefill", "--disaggregation-transfer-backend=nixl"), {}, Rdma.USEFUL),
        (sglang("--disaggregation-mode=prefill", "--disaggregation-transfer-backend=nixl"),
         {"SGLANG_DISAGGREGATION_NIXL_BACKEND": "LIBFABRIC"}, Rdma.REQUIRED),
        (sglang("--disaggregation-mode=prefill", "--disaggregation-transfer-backend=mooncake_tcp", tag="v0.5.23"), {},
         Rdma.NONE),
    ],
)  # fmt: skip
def test_what_is_made_of_rdma(line: CommandLine, variables: dict[str, str], need: Rdma) -> None:
    found = transfer_of(line)
    assert found
    assert found.rdma(variables)[0] is need


REGISTERED = {
    # vllm/distributed/kv_transfer/kv_connector/factory.py of each release.
    "0.7.3": "PyNcclConnector MooncakeConnector",
    "0.8.5": "PyNcclConnector MooncakeConnector LMCacheConnector MooncakeStoreConnector SharedStorageConnector "
    "LMCacheConnectorV1",
    "0.9.2": "PyNcclConnector MooncakeConnector LMCacheConnector MooncakeStoreConnector SharedStorageConnector "
    "P2pNcclConnector LMCacheConnectorV1 NixlConnector MultiConnector",
    "0.10.2": "SharedStorageConnector P2pNcclConnector LMCacheConnectorV1 NixlConnector MultiConnector",
    "0.11.0": "SharedStorageConnector P2pNcclConnector LMCacheConnectorV1 NixlConnector MultiConnector "
    "OffloadingConnector",
    "0.12.0": "SharedStorageConnector P2pNcclConnector LMCacheConnectorV1 LMCacheMPConnector NixlConnector "
    "MultiConnector OffloadingConnector DecodeBenchConnector",
    "0.14.0": "ExampleConnector P2pNcclConnector LMCacheConnectorV1 LMCacheMPConnector NixlConnector MultiConnector "
    "MoRIIOConnector OffloadingConnector DecodeBenchConnector MooncakeConnector",
    "0.17.1": "ExampleConnector ExampleHiddenStatesConnector P2pNcclConnector LMCacheConnectorV1 LMCacheMPConnector "
    "NixlConnector MultiConnector MoRIIOConnector OffloadingConnector DecodeBenchConnector MooncakeConnector",
    "0.20.0": "ExampleConnector ExampleHiddenStatesConnector P2pNcclConnector LMCacheConnectorV1 LMCacheMPConnector "
    "NixlConnector MultiConnector MoRIIOConnector OffloadingConnector DecodeBenchConnector MooncakeConnector "
    "FlexKVConnectorV1 SimpleCPUOffloadConnector HF3FSKVConnector",
    "0.33.0": "ExampleConnector ExampleHiddenStatesConnector LMCacheConnectorV1 LMCacheMPConnector NixlConnector "
    "NixlPullConnector NixlPushConnector MultiConnector HiSparseConnector MoRIIOConnector OffloadingConnector "
    "DecodeBenchConnector MooncakeConnector MooncakeStoreConnector FlexKVConnectorV1 SimpleCPUOffloadConnector "
    "HF3FSKVConnector",
}


@pytest.mark.parametrize("version", REGISTERED)
def test_the_table_has_the_connectors_of_each_release(version: str) -> None:
    table = transfer_table("vllm")
    assert table
    names = table.names_in(table.engine.version(version))
    assert sorted(names) == sorted(REGISTERED[version].split())


@pytest.mark.parametrize("name", ["sglang", "vllm"])
def test_the_table_is_whole(name: str) -> None:
    table = transfer_table(name)
    assert table
    assert table.engine is engines()[name]
    assert {*table.roles.values()} >= {Stage.PREFILL, Stage.DECODE}
    assert table.find(table.default, None)
    settings = (
        {Setting.TRANSFER} if table.json else {Setting.TRANSFER_ROLE, Setting.TRANSFER_BACKEND, Setting.TRANSFER_PORT}
    )
    assert settings <= set(table.engine.settings)
    for row in table.connectors:
        assert row.local or row.parts or row.router
        assert row.instead in ("", *(each.name for each in table.connectors))
    assert transfer_table("ollama") is None
    assert transfer_table("") is None
