"""Envoy's messages in a descriptor pool of their own."""

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import json_format  # type: ignore[import-untyped]

from livefleet.door.protocol import Package, message, packed

PULUMI = "import pulumi; from pulumi.runtime.proto import status_pb2"
DOOR = """
import livefleet.door.ai.server
import livefleet.door.xds.server
from livefleet.door.protocol import message, packed
found = packed({"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "own"})
message("google.rpc.Status")(message="refused")
listener = message("envoy.config.listener.v3.Listener")()
assert found.Unpack(listener) and listener.name == "own"
"""
MANAGER = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
ROUTER = "envoy.extensions.filters.http.router.v3.Router"
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("order", [(PULUMI, DOOR), (DOOR, PULUMI)], ids=["pulumi-first", "door-first"])
def test_it_lives_with_pulumi_in_one_process(order: tuple[str, str]) -> None:
    """Both have ``google.rpc.Status``, of files with two names."""
    command = [sys.executable, "-c", "\n".join(order)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_types_within_a_resource_are_found() -> None:
    router_config = {"@type": f"type.googleapis.com/{ROUTER}", "startChildSpan": True}
    manager = {
        "@type": f"type.googleapis.com/{MANAGER}",
        "httpFilters": [{"name": "router", "typedConfig": router_config}],
    }
    cluster = {
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        "connectTimeout": "1.5s",
        "metadata": {"filterMetadata": {"own": {"models": ["m"], "limit": 3, "@type": "x/mine.Own"}}},
        "typedExtensionProtocolOptions": {"own": manager},
    }
    read = message("envoy.config.cluster.v3.Cluster")()
    assert packed(cluster).Unpack(read)
    assert read.connect_timeout.ToTimedelta().total_seconds() == 1.5
    assert dict(read.metadata.filter_metadata["own"])["limit"] == 3
    inner = message(MANAGER)()
    assert read.typed_extension_protocol_options["own"].Unpack(inner)
    router = message(ROUTER)()
    assert inner.http_filters[0].typed_config.Unpack(router)
    assert router.start_child_span


def test_a_package_has_messages_with_their_values() -> None:
    core = Package("envoy.config.core.v3")
    assert core.HeaderValue(key="a").key == "a"
    assert core.HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD == 2


@pytest.mark.parametrize(
    "name", ["envoy.config.core.v3.Nothing", "envoy.nothing.Nothing", "nothing.at.All", "Nothing"]
)
def test_a_message_that_is_not_there(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        message(name)


def test_a_resource_of_an_unknown_type() -> None:
    with pytest.raises(json_format.ParseError, match=r"nothing\.at\.All"):
        packed({"@type": "type.googleapis.com/nothing.at.All"})
