"""Prefill and decode are told what they need to find one another, and what a user writes stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.engines.command_line import CommandLine
from components.engines.lint import lint
from components.engines.pairs.faults import Side, pair_faults
from components.engines.pairs.filling import pair_lines
from components.engines.pairs.reading import transfer_of
from components.engines.pairs.rows import Stage
from tests.engines.pairs.lines import FLAG, engine, said, sglang, vllm

PREFILL, DECODE = "kv_producer", "kv_consumer"


def filled(prefill: CommandLine, decode: CommandLine) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the arguments that were added or changed."""
    lines = pair_lines(engine(prefill.engine), prefill, decode)
    pairs = zip((prefill, decode), lines, strict=True)
    first, second = (tuple(arg for arg in after.args if arg not in before.args) for before, after in pairs)
    return first, second


def text(found: dict[str, Any]) -> str:
    return json.dumps(found, separators=(",", ":"))


@pytest.mark.parametrize("tag", ["v0.11.0", "v0.20.0", "v0.33.0", "latest", "mine@"])
def test_two_sides_that_say_nothing_get_the_default(tag: str) -> None:
    given, taken = filled(vllm(tag=tag), vllm(tag=tag))
    assert given == (FLAG, '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}')
    assert taken == (FLAG, '{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}')


@pytest.mark.parametrize(("tag", "can"), [("v0.12.0", True), ("v0.20.0", True), ("v0.11.0", False), ("mine@", False)])
def test_pods_that_ask_for_efa_go_by_it(tag: str, can: bool) -> None:
    lines = pair_lines(engine(), vllm(tag=tag), vllm(tag=tag), efa=True)
    config = {"kv_connector_extra_config": {"backends": ["LIBFABRIC"]}} if can else {}
    roles = ("kv_producer", "kv_consumer")
    expected = [{"kv_connector": "NixlConnector", "kv_role": role} | config for role in roles]
    assert [json.loads(line.args[-1]) for line in lines] == expected
    written = vllm(said(), tag=tag)
    assert pair_lines(engine(), written, vllm(tag=tag), efa=True)[0] is written


def test_a_version_without_the_default_is_left_alone() -> None:
    assert filled(vllm(tag="v0.8.5"), vllm(tag="v0.8.5")) == ((), ())


@pytest.mark.parametrize(
    ("written", "other"),
    [
        (said("LMCacheConnectorV1"), said("LMCacheConnectorV1", DECODE)),
        (said("NixlConnector", "kv_both"), said("NixlConnector", DECODE)),
        (
            said("NixlConnector", backends=["LIBFABRIC"], other=1),
            said("NixlConnector", DECODE, backends=["LIBFABRIC"]),
        ),
        (said() | {"kv_port": 1, "engine_id": "0"}, said(role=DECODE)),
        (
            said("Own") | {"kv_connector_module_path": "own"},
            said("Own", DECODE) | {"kv_connector_module_path": "own"},
        ),
        (
            said("MultiConnector", connectors=[said(), said("OffloadingConnector", "kv_both")]),
            said("MultiConnector", DECODE, connectors=[said(role=DECODE), said("OffloadingConnector", "kv_both")]),
        ),
    ],
)
def test_a_side_that_says_nothing_takes_what_the_other_does(written: dict[str, Any], other: dict[str, Any]) -> None:
    given, taken = filled(vllm(written), vllm())
    assert given == ()
    assert taken == (FLAG, text(other))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"kv_connector":"NixlConnector"}', '{"kv_connector":"NixlConnector", "kv_role": "kv_producer"}'),
        ('{ "kv_connector": "NixlConnector", "kv_buffer_size": 1e9 }\n',
         '{ "kv_connector": "NixlConnector", "kv_buffer_size": 1e9, "kv_role": "kv_producer"}'),
    ],
)  # fmt: skip
def test_a_role_is_added_to_what_is_said(written: str, expected: str) -> None:
    decode = vllm(said(role=DECODE))
    assert pair_lines(engine(), vllm(None, FLAG, written), decode)[0].args[-1] == expected
    assert pair_lines(engine(), vllm(None, f"{FLAG}={written}"), decode)[0].args[-1] == f"{FLAG}={expected}"


def test_a_role_is_added_to_keys_of_their_own() -> None:
    line = vllm(None, f"{FLAG}.kv_connector=NixlConnector", "--port", "1")
    assert pair_lines(engine(), line, vllm())[0].args[2:] == (
        f"{FLAG}.kv_connector=NixlConnector", "--port", "1", f"{FLAG}.kv_role", PREFILL,
    )  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        CommandLine("vllm", "v0.20.0", ["vllm serve /m"], ["sh", "-c"]),
        CommandLine("vllm", "v0.20.0", ["/m"], ["/app/own"]),
        vllm(None, FLAG, "$(CONFIG)"),
        vllm(None, FLAG, "{"),
        vllm({"kv_role": "kv_both"}),
    ],
)
def test_what_is_not_read_is_left_alone(line: CommandLine) -> None:
    assert pair_lines(engine(), line, line) == (line, line)


def test_other_engines_are_left_alone() -> None:
    line = CommandLine("tgi", "3.3.6", ["--model-id", "m"])
    assert pair_lines(engine("tgi"), line, line) == (line, line)


@pytest.mark.parametrize(
    ("prefill", "decode", "given", "taken"),
    [
        ("", "", "--disaggregation-mode prefill --disaggregation-transfer-backend nixl",
         "--disaggregation-mode decode --disaggregation-transfer-backend nixl"),
        ("--disaggregation-mode prefill", "", "--disaggregation-transfer-backend nixl",
         "--disaggregation-mode decode --disaggregation-transfer-backend nixl"),
        ("", "--disaggregation-transfer-backend mooncake", "--disaggregation-mode prefill "
         "--disaggregation-transfer-backend mooncake", "--disaggregation-mode decode"),
        ("--disaggregation-mode decode", "--disaggregation-mode decode", "--disaggregation-transfer-backend nixl",
         "--disaggregation-transfer-backend nixl"),
        ("--disaggregation-mode $(MODE)", "", "", "--disaggregation-mode decode"),
    ],
)  # fmt: skip
def test_sglang(prefill: str, decode: str, given: str, taken: str) -> None:
    found = filled(sglang(*prefill.split()), sglang(*decode.split()))
    assert (" ".join(found[0]), " ".join(found[1])) == (given, taken)


def test_an_old_sglang_knows_no_backend() -> None:
    """--disaggregation-transfer-backend came after 0.4.5."""
    assert filled(sglang(tag="v0.4.5"), sglang(tag="v0.4.5")) == (
        ("--disaggregation-mode", "prefill"),
        ("--disaggregation-mode", "decode"),
    )


CONNECTORS = st.sampled_from(["NixlConnector", "LMCacheConnectorV1", "P2pNcclConnector", "MultiConnector", "", "X"])
SAID = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "kv_connector": CONNECTORS,
        "kv_role": st.sampled_from([PREFILL, DECODE, "kv_both", "x"]),
        "kv_connector_extra_config": st.dictionaries(
            st.sampled_from(["backends", "a"]), st.lists(st.text(max_size=3))
        ),
        "kv_port": st.integers(),
    },
)
TAGS = st.sampled_from(["v0.8.5", "v0.11.0", "v0.20.0", "v0.33.0", "latest", "mine@"])


@given(SAID, SAID, TAGS, TAGS)
def test_what_is_written_stays(
    first: dict[str, Any] | None, second: dict[str, Any] | None, one: str, two: str
) -> None:
    before = vllm(first, "--port", "1", tag=one), vllm(second, tag=two)
    after = pair_lines(engine(), *before)
    assert pair_lines(engine(), *after) == after
    for written, line, whole in zip((first, second), before, after, strict=True):
        assert [arg for arg in whole.args if not arg.startswith("{")][: len(line.args) - bool(written)] == [
            arg for arg in line.args if not arg.startswith("{")
        ][: len(line.args) - bool(written)]
        found = transfer_of(whole)
        if written is not None:
            assert found
            assert written.items() <= found.document.items()
            assert found.document.keys() - written.keys() <= {"kv_role"}


@given(TAGS.filter(lambda tag: tag != "v0.8.5"), st.sampled_from(["NixlConnector", "LMCacheConnectorV1"]))
def test_what_is_filled_in_has_no_error(tag: str, connector: str) -> None:
    sides = pair_lines(engine(), vllm(said(connector, None), tag=tag), vllm(tag=tag))
    assert not [fault for fault in pair_faults(*map(Side, sides)) if fault.severity == "error"]
    assert not [finding for side in sides for finding in lint(side) if finding.severity == "error"]
    roles = [found.role for side in sides if (found := transfer_of(side))]
    assert roles == [Stage.PREFILL, Stage.DECODE]
