"""A pair that cannot talk is told apart from one that hardly does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.engines.command_line import CommandLine
from components.engines.lint import lint
from components.engines.pairs.faults import Side, pair_faults
from tests.engines.pairs.lines import FLAG, said, sglang, vllm

PREFILL, DECODE = "kv_producer", "kv_consumer"
SCRIPT = CommandLine("vllm", "v0.20.0", ["vllm serve /m"], ["sh", "-c"])
OWN = CommandLine("vllm", "v0.20.0", ["/m"], ["/app/start"])


def faults(prefill: Side | CommandLine, decode: Side | CommandLine) -> list[tuple[str, str, str]]:
    sides = [side if isinstance(side, Side) else Side(side) for side in (prefill, decode)]
    return [(each.role, each.severity, each.reason) for each in pair_faults(*sides)]


def pair(connector: str = "NixlConnector", tag: str = "v0.20.0", **config: Any) -> tuple[CommandLine, CommandLine]:
    return vllm(said(connector, PREFILL, **config), tag=tag), vllm(said(connector, DECODE, **config), tag=tag)


@pytest.mark.parametrize(
    ("prefill", "decode"),
    [
        pair(),
        pair(tag="v0.11.0"),
        pair("MooncakeConnector"),
        pair("HF3FSKVConnector"),
        (vllm(said(role="kv_both")), vllm(said(role="kv_both"))),
        pair("MultiConnector", connectors=[said(), said("OffloadingConnector")]),
        (
            vllm(said(role=PREFILL), "--tensor-parallel-size=2"),
            vllm(said(role=DECODE), "--tensor-parallel-size", "4"),
        ),
        (vllm(None, FLAG, "$(CONFIG)"), vllm(said(role=PREFILL))),
        (sglang("--disaggregation-mode=prefill"), sglang("--disaggregation-mode=decode")),
        (CommandLine("tgi", "3.3.6", []), CommandLine("tgi", "3.3.6", [])),
    ],
)
def test_pairs_that_talk(prefill: CommandLine, decode: CommandLine) -> None:
    assert [fault for fault in faults(prefill, decode) if "decode has kv_role" not in fault[2]] == []
    assert not [finding for line in (prefill, decode) for finding in lint(line)]


@pytest.mark.parametrize(
    ("prefill", "decode", "role", "severity", "part"),
    [
        # Different engines and connectors.
        (vllm(said()), sglang("--disaggregation-mode=decode"), "decode", "error",
         "decode runs sglang and prefill vllm"),
        (vllm(said()), CommandLine("", "", []), "decode", "warning", "decode runs an unknown engine and prefill"),
        (vllm(said()), vllm(said("LMCacheConnectorV1", DECODE)), "decode", "error",
         "decode receives the cache with LMCacheConnectorV1 and prefill sends it with NixlConnector"),
        (sglang("--disaggregation-mode=prefill"),
         sglang("--disaggregation-mode=decode", "--disaggregation-transfer-backend=nixl"), "decode", "error",
         "decode receives the cache with nixl and prefill sends it with mooncake"),
        # Nothing, or the wrong role.
        (vllm(), vllm(said(role=DECODE)), "prefill", "error",
         f"prefill has no KV cache transfer settings; add {FLAG}"),
        (sglang("--disaggregation-mode=prefill"), sglang(), "decode", "error", "add --disaggregation-mode"),
        (SCRIPT, vllm(said(role=DECODE)), "prefill", "error", "prefill has no KV cache transfer settings"),
        (OWN, vllm(said(role=DECODE)), "prefill", "warning", "not known to start vllm; make sure that it sets"),
        (vllm(said("LMCacheConnectorV1")), vllm(said("LMCacheConnectorV1")), "decode", "error",
         "decode has kv_role kv_producer, the role of prefill; set it to kv_consumer"),
        (vllm(said(role=DECODE), tag="v0.33.0"), vllm(said(role=DECODE), tag="v0.33.0"), "prefill", "error",
         "prefill has kv_role kv_consumer"),
        # "NixlConnector currently does not distinguish kv_role" (docs/features/nixl_connector_usage.md, 0.20).
        (vllm(said()), vllm(said()), "decode", "warning", "decode has kv_role kv_producer"),
        (vllm(said(role="kv_both"), tag="v0.33.0"), vllm(said(role=DECODE), tag="v0.33.0"), "prefill", "warning",
         "kv_role kv_both is deprecated with NixlConnector; set it to kv_producer for prefill"),
        (vllm(said("P2pNcclConnector", "kv_both")), vllm(said("P2pNcclConnector", DECODE)), "prefill", "error",
         "P2pNcclConnector does not support kv_role kv_both; set kv_role of prefill to kv_producer"),
        (sglang("--disaggregation-mode=decode"), sglang("--disaggregation-mode=decode"), "prefill", "error",
         "prefill has --disaggregation-mode decode, the role of decode"),
        (sglang("--disaggregation-mode=null"), sglang("--disaggregation-mode=decode"), "prefill", "error",
         "prefill needs --disaggregation-mode prefill, found 'null'"),
        # Connectors that do not connect, or lack something.
        (*pair("OffloadingConnector"), "prefill", "error",
         "OffloadingConnector, which keeps the cache of its own pod"),
        (*pair("MultiConnector", connectors=[said("OffloadingConnector")]), "decode", "error",
         "MultiConnector, which keeps the cache of its own pod"),
        (*pair("ExampleConnector"), "decode", "warning", "both sides need the same volume"),
        (*pair("LMCacheConnectorV1"), "prefill", "warning",
         "keeps the cache in its own pod unless variables LMCACHE_"),
        # requirements/kv_connectors.txt names nixl since 0.11.
        (*pair(tag="v0.10.2"), "prefill", "warning",
         "NixlConnector needs nixl, which the image of vllm v0.10.2"),
        # Versions: NIXL compares them since 0.14 (compute_nixl_compatibility_hash).
        (pair()[0], pair(tag="v0.17.1")[1], "decode", "error", "prefill runs v0.20.0 and decode v0.17.1"),
        (pair()[0], pair(tag="nightly")[1], "decode", "warning", "use the same image for both"),
        # Settings that must be the same.
        (pair(backends=["UCX"])[0], pair(backends=["LIBFABRIC"])[1], "decode", "error",
         "backends of NixlConnector differs"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_pair(
    prefill: CommandLine, decode: CommandLine, role: str, severity: str, part: str
) -> None:
    found = faults(prefill, decode)
    assert [each for each in found if each[:2] == (role, severity) and part in each[2]], found


@pytest.mark.parametrize(
    ("connector", "tag", "gives", "takes", "refused"),
    [
        # "Decode TP cannot be smaller than prefill TP" (nixl_connector.py of 0.9.2 to 0.12).
        ("NixlConnector", "v0.11.0", 2, 1, True),
        ("NixlConnector", "v0.11.0", 2, 4, False),
        ("NixlConnector", "v0.11.0", 2, 3, True),
        ("NixlConnector", "v0.14.0", 2, 1, False),
        ("NixlConnector", "v0.14.0", 4, 6, True),
        ("NixlConnector", "v0.13.0", 2, 1, False),  # nobody looked
        ("MooncakeConnector", "v0.14.0", 2, 4, True),
        ("MooncakeConnector", "v0.14.0", 4, 4, False),
        ("MooncakeConnector", "v0.20.0", 4, 2, False),
        ("MooncakeConnector", "v0.20.0", 3, 2, True),
        ("HF3FSKVConnector", "v0.20.0", 3, 2, False),
    ],
)
def test_sizes(connector: str, tag: str, gives: int, takes: int, refused: bool) -> None:
    prefill = vllm(said(connector, PREFILL), "--tensor-parallel-size", str(gives), tag=tag)
    decode = vllm(said(connector, DECODE), f"-tp={takes}", tag=tag)
    found = [each for each in faults(prefill, decode) if "tensor parallel" in each[2]]
    assert [each[:2] for each in found] == ([("decode", "error")] if refused else [])
    assert all(f"size {takes} and prefill {gives};" in each[2] for each in found)
    later = vllm(said(connector, DECODE), "-tp", "$(SIZE)", tag=tag)
    assert not [each for each in faults(prefill, later) if "tensor parallel" in each[2]]


def test_sizes_of_scripts_and_of_another_engine() -> None:
    script = CommandLine(
        "vllm", "v0.11.0", [f'vllm serve /m {FLAG} \'{{"kv_connector":"NixlConnector"}}\''], ["sh", "-c"]
    )
    assert any("kv_role must be one of" in each[2] for each in faults(script, script))
    prefill = sglang("--disaggregation-mode=prefill", "--tp", "4")
    assert faults(prefill, sglang("--disaggregation-mode=decode", "--tp", "8")) == []
    assert len(faults(prefill, sglang("--disaggregation-mode=decode", "--tp", "6"))) == 1


@pytest.mark.parametrize(
    ("lines", "variables", "severity", "part"),
    [
        (pair(), {}, "warning", "NixlConnector moves the cache over TCP"),
        (pair(backends=["LIBFABRIC"]), {}, "error", "or remove LIBFABRIC from backends on both sides"),
        (pair("MooncakeConnector"), {}, "error", "or set mooncake_protocol to tcp on both sides"),
        (pair("MooncakeConnector", mooncake_protocol="tcp"), {}, None, ""),
        (pair("MooncakeConnector"), {"MC_FORCE_TCP": "1"}, None, ""),
        (pair("HF3FSKVConnector"), {}, None, ""),
        ((sglang("--disaggregation-mode=prefill"), sglang("--disaggregation-mode=decode")), {}, "error",
         "the nodes of decode have no EFA; use an instance type with EFA, or use nixl on both sides"),
    ],
)  # fmt: skip
def test_nodes_without_rdma(
    lines: tuple[CommandLine, CommandLine], variables: dict[str, str], severity: str | None, part: str
) -> None:
    prefill, decode = lines
    found = faults(Side(prefill, variables=variables), Side(decode, efa=False, variables=variables))
    assert [each[:2] for each in found] == ([("decode", severity)] if severity else [])
    assert all(part in each[2] for each in found)
    assert faults(Side(prefill, variables=variables), Side(decode, variables=variables)) == []


def test_versions_may_differ_where_nobody_compares_them() -> None:
    prefill, _ = pair(enforce_handshake_compat=False)
    _, decode = pair(tag="v0.17.1", enforce_handshake_compat=False)
    assert faults(prefill, decode) == []
    assert faults(pair(tag="v0.11.0")[0], pair(tag="v0.11.1")[1]) == []


def test_a_side_that_took_nothing_over_from_a_wrong_one_is_not_blamed() -> None:
    wrong = vllm(said("MooncakeConnector"), tag="v0.11.0")
    assert [finding.severity for finding in lint(wrong)] == ["error"]
    assert faults(wrong, vllm(tag="v0.11.0")) == []


def test_an_image_may_say_that_it_has_the_library() -> None:
    assert faults(*pair(tag="v0.10.2-cu128-nixl-v0.4.1")) == []


@pytest.mark.parametrize(
    ("variables", "is_whole", "part"),
    [
        ({"VLLM_NIXL_SIDE_CHANNEL_HOST": "0.0.0.0"}, False, "is 0.0.0.0, which decode cannot reach"),
        ({"VLLM_NIXL_SIDE_CHANNEL_HOST": "localhost"}, True, "is localhost, which decode cannot reach"),
        ({"VLLM_NIXL_SIDE_CHANNEL_HOST": "10.0.0.1"}, True, ""),
        ({"VLLM_NIXL_SIDE_CHANNEL_HOST": ""}, True, ""),
        ({}, True, "is not set, so decode looks for prefill at localhost"),
        ({}, False, ""),
    ],
)
def test_an_address_where_nobody_finds_prefill(variables: dict[str, str], is_whole: bool, part: str) -> None:
    """Prefill passes the variable on as it is (vLLM, request_finished: remote_host; vllm/envs.py: localhost)."""
    found = faults(*(Side(line, variables=variables, is_whole=is_whole) for line in pair()))
    assert [each[:2] for each in found] == ([("prefill", "error")] if part else [])
    assert all(part in each[2] for each in found)


@pytest.mark.parametrize(
    ("lines", "variables", "part"),
    [
        # Mooncake, supported-protocols.md: EFA is a protocol of its own, and has none of the queue pairs of RDMA.
        (pair("MooncakeConnector"), {}, "MooncakeConnector reaches EFA only with mooncake_protocol efa"),
        (pair("MooncakeConnector", mooncake_protocol="rdma"), {}, "and decode has rdma"),
        (pair("MooncakeConnector", mooncake_protocol="efa"), {}, ""),
        (pair("MooncakeConnector", mooncake_protocol="tcp"), {}, ""),
        (pair(backends=["LIBFABRIC"]), {}, ""),
        # NIXL goes by UCX unless it is told otherwise, and UCX does not reach EFA (ai-dynamo/nixl issue 909).
        (
            pair(),
            {},
            "NixlConnector reaches EFA only with backends LIBFABRIC, and decode has none; set it on both sides",
        ),
        (pair(backends=["UCX", "GDS"]), {}, "and decode has UCX, GDS"),
        (pair(tag="v0.11.0"), {}, "NixlConnector does not reach EFA in this version; for decode use a newer image"),
        (
            (sglang("--disaggregation-mode=prefill"), sglang("--disaggregation-mode=decode")),
            {},
            "mooncake does not reach EFA in this version",
        ),
        (
            (sglang("--disaggregation-mode=prefill"), sglang("--disaggregation-mode=decode")),
            {"MOONCAKE_PROTOCOL": "efa"},
            "",
        ),
    ],
)
def test_nodes_with_efa(lines: tuple[CommandLine, CommandLine], variables: dict[str, str], part: str) -> None:
    found = faults(Side(lines[0], variables=variables), Side(lines[1], efa=True, variables=variables))
    assert [each[:2] for each in found] == ([("decode", "warning")] if part else [])
    assert all(part in each[2] for each in found)


def test_a_caution_is_settled_by_a_variable() -> None:
    prefill, decode = pair("LMCacheConnectorV1")
    settled = {"LMCACHE_CONFIG_FILE": ""}
    assert faults(Side(prefill, variables=settled), Side(decode, variables=settled)) == []
    assert [each[0] for each in faults(Side(prefill, variables=settled), Side(decode))] == ["decode"]


KEYS = st.sampled_from(["kv_connector", "kv_role", "kv_connector_extra_config", "connectors", "x"])
PLAIN = st.text() | st.integers() | st.none() | st.booleans()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=6))
def test_any_json_is_judged(anything: Any) -> None:
    line = vllm(anything)
    assert all(reason for _, _, reason in faults(line, vllm(said(role=DECODE))))
    lint(line)


@pytest.mark.parametrize(
    ("written", "tag", "severity", "part"),
    [
        (said("NixlConector"), "v0.20.0", "warning", "did you mean 'NixlConnector'?"),
        (said("NixlConnector"), "v0.8.5", "error", "vllm v0.8.5 does not have NixlConnector yet (available in 0.9)"),
        (said("SharedStorageConnector"), "v0.20.0", "error",
         "does not have SharedStorageConnector; use ExampleConnector"),
        (said("ExampleConnector"), "v0.11.0", "error", "does not have ExampleConnector; use SharedStorageConnector"),
        (said("P2pNcclConnector"), "v0.33.0", "error", "does not have P2pNcclConnector any more; use NixlConnector"),
        (said("MooncakeConnectorV1"), "v0.20.0", "error", "comes with the plugin vllm-ascend"),
        (said("NixlConnector", "both"), "v0.20.0", "error", "found 'both'; did you mean 'kv_both'?"),
        (said("NixlConnector", None), "v0.20.0", "error",
         "kv_role must be one of kv_producer, kv_consumer, kv_both, and"),
        ({"kv_role": "kv_both"}, "v0.20.0", "error", "no kv_connector is named"),
        (said("MultiConnector", connectors=[said("Nixl")]), "v0.20.0", "warning", "Nixl is not a known connector"),
        (said("MooncakeConnectorV1"), "own@", None, ""),
        (said("NixlConnector"), "own@", None, ""),
        (said("Own") | {"kv_connector_module_path": "own"}, "v0.20.0", None, ""),
    ],
)  # fmt: skip
def test_what_is_wrong_with_one_side_is_linted(
    written: dict[str, Any], tag: str, severity: str | None, part: str
) -> None:
    line = vllm(written, tag=tag)
    found = lint(line)
    assert [(each.position, each.severity) for each in found] == ([(3, severity)] if severity else [])
    assert all(part in each.reason for each in found)
