"""The pods of a group are joined as the version of the engine wants it, whatever tells a pod of its group."""

import pytest

from components.engines.command_line import CommandLine
from components.engines.groups import GroupVariables, group_lines
from components.engines.lint import lint
from components.engines.pairs.reading import transfer_of
from components.engines.registry import engines
from components.engines.shell import expanded_variables
from tests.engines.pairs.lines import FLAG

VARIABLES = GroupVariables("ENTRY_ADDRESS", "GROUP_SIZE", "WORKER_INDEX")
SERVER = ("python3", "-m", "vllm.entrypoints.openai.api_server")


def vllm(tag: str, *more: str) -> CommandLine:
    return CommandLine("vllm", tag, ["--model", "/m", "--tensor-parallel-size", "16", *more], SERVER)


@pytest.mark.parametrize("tag", ["v0.8.5", "v0.11.0", "v0.17.1", "v0.18.0"])
def test_ray_joins_the_pods_while_the_image_has_it(tag: str) -> None:
    """requirements/cuda.txt names ray up to 0.17.1 and not in 0.20; the image has none since 0.19."""
    leader, worker = group_lines(engines()["vllm"], vllm(tag), VARIABLES)
    assert leader.command == worker.command == ("sh", "-c")
    script, name, *parameters = leader.args
    assert '= "$GROUP_SIZE" ]' in script
    assert (name, parameters[:5], parameters[-2:]) == (
        "serve", [*SERVER, "--model", "/m"], ["--distributed-executor-backend", "ray"],
    )  # fmt: skip
    assert 'ray start --address="$ENTRY_ADDRESS:6379" --block' in worker.args[0]
    assert not expanded_variables(script + worker.args[0])


@pytest.mark.parametrize("tag", ["v0.19.0", "v0.20.0", "v0.33.0", "latest", "mine@"])
def test_the_engine_joins_the_pods_by_itself_since(tag: str) -> None:
    leader, worker = group_lines(engines()["vllm"], vllm(tag), VARIABLES)
    assert leader.command == ("vllm", "serve")
    assert " ".join(leader.args) == (
        "/m --tensor-parallel-size 16 --distributed-executor-backend mp --nnodes $(GROUP_SIZE) "
        "--node-rank $(WORKER_INDEX) --master-addr $(ENTRY_ADDRESS) --master-port 29500"
    )
    assert worker.args == (*leader.args, "--headless")
    assert not [finding for line in (leader, worker) for finding in lint(line)]


def test_sglang_is_told_of_its_nodes() -> None:
    line = CommandLine("sglang", "v0.5.9", ["--model-path", "/m", "--tp", "16"])
    leader, worker = group_lines(engines()["sglang"], line, VARIABLES)
    assert " ".join(leader.args) == (
        "--model-path /m --tp 16 --dist-init-addr $(ENTRY_ADDRESS):20000 --nnodes $(GROUP_SIZE) "
        "--node-rank $(WORKER_INDEX)"
    )
    assert worker == leader


@pytest.mark.parametrize("tag", ["v0.11.0", "v0.20.0"])
def test_a_group_still_tells_how_it_hands_over(tag: str) -> None:
    line = vllm(tag, FLAG, '{"kv_connector": "NixlConnector", "kv_role": "kv_producer"}')
    leader, _ = group_lines(engines()["vllm"], line, VARIABLES)
    found = transfer_of(leader)
    assert found
    assert (found.connector, found.word) == ("NixlConnector", "kv_producer")
