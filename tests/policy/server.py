"""The real policy pack as Pulumi runs it: a program that prints its port and answers over gRPC, on loopback.

It runs in the environment of the pack, with the real ``pulumi_policy``. Only the engine is played: requests are made
of what the program of a stack registers.
"""

import fcntl
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest
from google.protobuf import empty_pb2, json_format  # type: ignore[import-untyped]
from pulumi.runtime.proto import analyzer_pb2 as wire
from pulumi.runtime.proto.analyzer_pb2_grpc import AnalyzerStub

from tests.resources.plugin.engine import UNKNOWN as UNKNOWN_VALUE
from tests.resources.plugin.engine import secret_value
from workbench.engine.program.graph import ResourceGraph
from workbench.engine.program.resources import STACK_TYPE
from workbench.engine.values import UNKNOWN, Secret

ROOT = Path(__file__).parents[2]
PACK = ROOT / "policy"
_LARGE = [("grpc.max_receive_message_length", 2**28), ("grpc.max_send_message_length", 2**28)]
LEVELS = {"advisory": wire.ADVISORY, "mandatory": wire.MANDATORY, "disabled": wire.DISABLED}


def environment() -> Path:
    """Return the Python of the pack's own environment, which is made where it is missing or old."""
    folder, wanted = PACK / "venv", PACK / "requirements.txt"
    done = folder / ".installed"
    with (ROOT / ".venv" / "policy.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.stat().st_mtime < wanted.stat().st_mtime:
            made = subprocess.run(["make", "policy-env"], cwd=ROOT, capture_output=True, text=True, check=False)
            if made.returncode != 0:
                if os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
                    raise RuntimeError(made.stderr)
                pytest.skip(f"the environment of the policy pack cannot be made here: {made.stderr[-500:]}")
    return folder / "bin" / "python"


@dataclass(frozen=True)
class Found:
    """A violation, as Pulumi shows it."""

    policy: str
    level: str
    message: str
    urn: str


@dataclass
class Asked:
    """A resource, as the engine describes it."""

    type: str
    name: str
    props: Mapping[str, Any]
    urn: str = ""
    protect: bool = False
    provider: Mapping[str, Any] | None = None

    def request(self, stack: bool = False) -> Any:
        """Return the message: of a single resource, or of one in a stack."""
        made = wire.AnalyzerResource() if stack else wire.AnalyzeRequest()
        made.type, made.name = self.type, self.name
        made.urn = self.urn or f"urn:pulumi:dev::proj::{self.type}::{self.name}"
        made.options.protect = self.protect
        json_format.ParseDict(dict(self.props), made.properties)
        if self.provider is not None:
            made.provider.type, made.provider.name = "pulumi:providers:aws", "aws"
            json_format.ParseDict(dict(self.provider), made.provider.properties)
        return made


@dataclass
class Pack:
    """The running pack."""

    stub: AnalyzerStub

    def configure(self, **policies: Mapping[str, Any]) -> None:
        """Tell it settings by policy, with - written as _; ``level`` is the level of enforcement."""
        request = wire.ConfigureAnalyzerRequest()
        for name, settings in policies.items():
            config = request.policyConfig[name.replace("_", "-")]
            config.enforcementLevel = LEVELS[settings.get("level", "mandatory")]
            given = {key: value for key, value in settings.items() if key != "level"}
            json_format.ParseDict(given, config.properties)
        self.stub.Configure(request)

    def one(self, asked: Asked) -> list[Found]:
        """Look at one resource."""
        return _found(self.stub.Analyze(asked.request()))

    def all(self, asked: list[Asked]) -> list[Found]:
        """Look at a stack: each resource by itself, and then all together."""
        single = [found for each in asked if each.type != STACK_TYPE for found in self.one(each)]
        whole = wire.AnalyzeStackRequest(resources=[each.request(stack=True) for each in asked])
        return [*single, *_found(self.stub.AnalyzeStack(whole))]

    @property
    def info(self) -> Any:
        """What it says of itself."""
        return self.stub.GetAnalyzerInfo(empty_pb2.Empty())


def _found(response: Any) -> list[Found]:
    levels = {number: level for level, number in LEVELS.items()}
    return [
        Found(each.policyName, levels[each.enforcementLevel], each.message, each.urn) for each in response.diagnostics
    ]


@contextmanager
def running() -> Iterator[Pack]:
    """Start the pack as Pulumi's language host does: the folder is run, its port is the first line."""
    command = [str(environment()), "-u", str(PACK)]
    program = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": os.environ["PATH"]}
    )
    try:
        assert program.stdout is not None
        port = program.stdout.readline().decode().strip()
        assert port.isdigit(), program.communicate()[1].decode()
        with grpc.insecure_channel(f"127.0.0.1:{port}", options=_LARGE) as channel:
            yield Pack(AnalyzerStub(channel))
    finally:
        program.terminate()
        program.communicate()


def asked_by(graph: ResourceGraph, **outputs: Any) -> list[Asked]:
    """Return everything that a program registers, as the engine would ask about it in a preview.

    Args:
        graph: What was recorded.
        outputs: Further outputs of the stack.
    """
    exports = _wire({**graph.exports, **outputs})
    found = [Asked(STACK_TYPE, f"{graph.project}-{graph.stack}", exports, graph.root)]
    for urn, node in graph.nodes.items():
        each = node.registration
        provider = graph.nodes.get(each.provider)
        props = _wire(node.inputs)
        settings = _wire(provider.inputs) if provider and provider.registration.name == "aws" else None
        found.append(Asked(each.type, each.name, props, urn, node.protect, settings))
    return found


def _wire(value: Any) -> Any:
    """Return a value as the engine sends it."""
    if value is UNKNOWN:
        return UNKNOWN_VALUE
    if isinstance(value, Secret):
        return secret_value(_wire(value.value))
    if isinstance(value, Mapping):
        return {key: _wire(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_wire(each) for each in value]
    return value


__all__ = ["Asked", "Found", "Pack", "asked_by", "running"]
