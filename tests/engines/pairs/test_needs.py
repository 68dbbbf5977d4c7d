"""What a side of a pair needs around its command line."""

import pytest

from components.engines.command_line import CommandLine
from components.engines.pairs.needs import Ports, needs_of
from components.engines.pairs.rows import Stage, Variable
from tests.engines.pairs.lines import said, sglang, vllm

HOST = Variable("VLLM_NIXL_SIDE_CHANNEL_HOST", field="status.podIP")
PORT = Variable("VLLM_NIXL_SIDE_CHANNEL_PORT", "5600")


@pytest.mark.parametrize("role", [Stage.PREFILL, Stage.DECODE])
def test_nixl_must_know_its_own_address(role: Stage) -> None:
    """vllm/envs.py: the address is localhost and the port 5557, which events use as well, up to 0.11."""
    found = needs_of(vllm(said()), role)
    assert found.variables == (HOST, PORT)
    assert found.ports == (Ports("nixl", 5600),)
    assert found.any_port


@pytest.mark.parametrize(
    ("tag", "args", "count"),
    [
        # A port for each rank: base + data_parallel_rank * tensor_parallel_size + tp_rank up to 0.11,
        # base + data_parallel_rank since.
        ("v0.11.0", ("-tp", "4", "-dp", "2"), 8),
        ("v0.12.0", ("-tp", "4", "-dp", "2"), 2),
        ("v0.12.0", ("-tp", "4"), 1),
    ],
)
def test_nixl_has_a_port_for_each_rank(tag: str, args: tuple[str, ...], count: int) -> None:
    assert needs_of(vllm(said(), *args, tag=tag), Stage.PREFILL).ports == (Ports("nixl", 5600, count),)


def test_what_the_user_sets_is_left_to_the_user() -> None:
    found = needs_of(vllm(said()), Stage.PREFILL, {"VLLM_NIXL_SIDE_CHANNEL_PORT": "7000"})
    assert found.variables == (HOST,)
    assert found.ports == (Ports("nixl", 7000),)
    from_elsewhere = needs_of(vllm(said()), Stage.PREFILL, {"VLLM_NIXL_SIDE_CHANNEL_PORT": ""})
    assert from_elsewhere.ports == ()


@pytest.mark.parametrize(
    ("line", "role", "variables", "ports"),
    [
        # VLLM_MOONCAKE_BOOTSTRAP_PORT: "Required only for prefiller instances".
        (vllm(said("MooncakeConnector")), Stage.PREFILL, [("VLLM_MOONCAKE_BOOTSTRAP_PORT", "8998")], [("mooncake",
         8998, 1)]),
        (vllm(said("MooncakeConnector")), Stage.DECODE, [], []),
        (vllm(said("P2pNcclConnector") | {"kv_port": "21001"}, "-tp=2"), Stage.DECODE, [], [("kv", 21001, 2)]),
        (vllm(said("P2pNcclConnector")), Stage.DECODE, [], [("kv", 14579, 1)]),
        (vllm(said("ExampleConnector")), Stage.DECODE, [], []),
        (vllm(said("MultiConnector", connectors=[said("MooncakeConnector"), said("OffloadingConnector")])),
         Stage.PREFILL,
         [("VLLM_MOONCAKE_BOOTSTRAP_PORT", "8998")], [("mooncake", 8998, 1)]),
        (vllm(), Stage.PREFILL, [], []),
        (sglang("--disaggregation-mode=prefill"), Stage.PREFILL, [], [("bootstrap", 8998, 1)]),
        (sglang("--disaggregation-mode=prefill", "--disaggregation-bootstrap-port", "9000"), Stage.PREFILL, [],
         [("bootstrap", 9000, 1)]),
        (sglang("--disaggregation-mode=prefill", "--disaggregation-bootstrap-port=$(P)"), Stage.PREFILL, [], []),
        (sglang("--disaggregation-mode=decode"), Stage.DECODE, [], []),
        (CommandLine("sglang", "v0.5.9", ["sglang serve --disaggregation-mode prefill"], ["sh", "-c"]), Stage.PREFILL,
         [],
         [("bootstrap", 8998, 1)]),
    ],
)  # fmt: skip
def test_needs_by_connector(
    line: CommandLine, role: Stage, variables: list[tuple[str, str]], ports: list[tuple[str, int, int]]
) -> None:
    found = needs_of(line, role)
    assert [(each.name, each.value) for each in found.variables] == variables
    assert [(each.name, each.first, each.count) for each in found.ports] == ports
