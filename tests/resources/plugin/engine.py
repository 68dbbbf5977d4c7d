"""The two ends of Pulumi's plugin protocol: an engine that records, on loopback, and values as it sends them."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
from google.protobuf import empty_pb2, json_format, struct_pb2  # type: ignore[import-untyped]
from pulumi.runtime import rpc
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    errors_pb2,
    provider_pb2,
    resource_pb2,
    resource_pb2_grpc,
    status_pb2,
)
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub

ROOT = Path(__file__).parents[3]
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
_LARGE = [("grpc.max_receive_message_length", 2**26)]
UNKNOWN = rpc.UNKNOWN


def output(
    value: Any = None, *, secret: bool = False, known: bool = True, of: tuple[str, ...] = ()
) -> dict[str, Any]:
    """An output value, as the engine sends one: sdk/go/common/resource/plugin/rpc.go."""
    sent: dict[str, Any] = {_SIGNATURE: _OUTPUT, "secret": secret, "dependencies": list(of)}
    return {**sent, "value": value} if known else sent


def secret_value(value: Any) -> dict[str, Any]:
    """A secret, as the engine sends one to plugins that know no output values."""
    return {_SIGNATURE: _SECRET, "value": value}


@dataclass
class Registered:
    """One resource that the plugin registered."""

    type: str
    name: str
    parent: str
    inputs: dict[str, Any]
    provider: str


@dataclass
class Engine(resource_pb2_grpc.ResourceMonitorServicer, engine_pb2_grpc.EngineServicer):
    """Takes resources in, as the engine's monitor does."""

    registered: list[Registered] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def SupportsFeature(self, request: Any, context: Any) -> Any:  # noqa: N802
        return resource_pb2.SupportsFeatureResponse(hasSupport=True)

    def GetDeploymentInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "an engine of before")

    def RegisterResource(self, request: Any, context: Any) -> Any:  # noqa: N802
        inputs = json_format.MessageToDict(request.object)
        with self.lock:
            self.registered.append(Registered(request.type, request.name, request.parent, inputs, request.provider))
        urn = f"urn:pulumi:dev::proj::{request.type}::{request.name}"
        return resource_pb2.RegisterResourceResponse(urn=urn, id=request.name, object=request.object)

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()

    def Log(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.logged.append(request.message)
        return empty_pb2.Empty()

    def GetRootResource(self, request: Any, context: Any) -> Any:  # noqa: N802
        return engine_pb2.GetRootResourceResponse(urn="")

    def of(self, type_: str) -> list[Registered]:
        return [each for each in self.registered if each.type == type_]


class RefusedError(Exception):
    """What the plugin answered: a message, and what is wrong by path."""

    def __init__(self, message: str, properties: Mapping[str, str]) -> None:
        super().__init__(message)
        self.message = message
        self.properties = dict(properties)

    @classmethod
    def of(cls, error: grpc.RpcError) -> "RefusedError":
        """Read the status of an answer."""
        properties: dict[str, str] = {}
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                details = errors_pb2.InputPropertiesError()
                status_pb2.Status.FromString(value).details[0].Unpack(details)
                properties = {each.property_path: each.reason for each in details.errors}
        return cls(error.details(), properties)


def printed(refused: RefusedError, inputs: Mapping[str, Any]) -> str:
    """What the engine prints of a refusal: errorToMessage in pkg/resource/deploy/source_eval.go of Pulumi 3.260.

    It looks each path up in the inputs, and prints what it finds there without masking it.
    """
    lines = [refused.message]
    for path, reason in refused.properties.items():
        try:
            value = _at(_parsed(path), inputs)
        except (ValueError, LookupError):
            lines.append(f"property {path} has a problem: {reason}")
        else:
            lines.append(f"property {path} with value '{value}' has a problem: {reason}")
    return "\n\t\t- ".join(lines)


def _parsed(path: str) -> list[str | int]:
    """ParsePropertyPath of sdk/go/common/resource/properties_path.go; ValueError where that returns an error."""
    elements: list[str | int] = []
    if path.startswith("."):
        raise ValueError(path)
    while path:
        if path.startswith("."):
            path = path[1:]
            if not path:
                raise ValueError(path)
        elif path.startswith('["'):
            quoted = re.match(r'\["((?:\\"|[^"])*)"\]', path)
            if not quoted:
                raise ValueError(path)
            elements.append(quoted[1].replace('\\"', '"'))
            path = path[quoted.end() :]
        elif path.startswith("["):
            segment, bracket, path = path[1:].partition("]")
            if not bracket:
                raise ValueError(path)
            elements.append(segment if segment == "*" else int(segment))
        else:
            name = re.match(r"[^.\[]+", path)
            assert name
            elements.append(name[0])
            path = path[name.end() :]
    return elements


def _at(elements: list[str | int], value: Any) -> Any:
    """PropertyPath.Get: through lists and maps; secrets and outputs are neither. LookupError if absent."""
    for key in elements:
        if isinstance(value, list):
            if not isinstance(key, int) or not 0 <= key < len(value):
                raise LookupError
            value = value[key]
        elif isinstance(value, Mapping) and _SIGNATURE not in value:
            if key not in value:
                raise LookupError
            value = value[key]
        else:
            raise LookupError
    return value


@dataclass
class Plugin:
    """The plugin as the engine runs it: a program that prints its port."""

    stub: ResourceProviderStub
    engine: Engine
    monitor: str

    def construct(
        self,
        kind: str,
        name: str,
        inputs: Mapping[str, Any],
        dependencies: Mapping[str, list[str]] | None = None,
        *,
        preview: bool = False,
    ) -> dict[str, Any]:
        """Make a component; return its state. ``engine.registered`` holds what it registered."""
        self.engine.registered.clear()
        sent = struct_pb2.Struct()
        json_format.ParseDict(dict(inputs), sent)
        found = {
            key: provider_pb2.ConstructRequest.PropertyDependencies(urns=urns)
            for key, urns in (dependencies or {}).items()
        }
        request = provider_pb2.ConstructRequest(
            project="proj", stack="dev", dryRun=preview, monitorEndpoint=self.monitor, parallel=4, name=name,
            type=f"inference-platform:index:{kind}", inputs=sent, inputDependencies=found,
        )  # fmt: skip
        try:
            answer = self.stub.Construct(request)
        except grpc.RpcError as error:
            raise RefusedError.of(error) from None
        state: dict[str, Any] = json_format.MessageToDict(answer.state)
        return state


@contextmanager
def running(folder: Path = ROOT / "components") -> Iterator[Plugin]:
    """Run the plugin and an engine that records."""
    engine = Engine()
    server = grpc.server(futures.ThreadPoolExecutor(8), options=_LARGE)
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(engine, server)
    engine_pb2_grpc.add_EngineServicer_to_server(engine, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    command = [sys.executable, "-W", "ignore", str(folder), address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as plugin:
        try:
            assert plugin.stdout
            port = plugin.stdout.readline().strip()
            with grpc.insecure_channel(f"127.0.0.1:{port}", options=_LARGE) as channel:
                yield Plugin(ResourceProviderStub(channel), engine, address)
        finally:
            plugin.kill()
            server.stop(None)
