"""A stand-in for Pulumi's provider of AWS, which the Go module registry does not serve as a program.

It accepts everything and creates nothing: enough for previews, in which the engine asks it to check inputs, and takes
every other output as unknown. Resources by ID in the file that STAND_IN_ACCOUNT names can be imported and compared.
``python -m tests.real_engine.aws_provider`` is started by the engine as a plugin.
"""

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
from google.protobuf import empty_pb2, json_format, struct_pb2  # type: ignore[import-untyped]
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc


class Aws(provider_pb2_grpc.ResourceProviderServicer):
    """What the engine calls in previews and imports. Other calls fail, as they are not implemented."""

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        return plugin_pb2.PluginInfo(version="7.51.1")

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        return provider_pb2.CheckResponse(inputs=request.news)

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, acceptResources=True, acceptOutputs=False
        )

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        return provider_pb2.CheckResponse(inputs=request.news)

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        if not request.preview:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "this stand-in creates nothing")
        return provider_pb2.CreateResponse(properties=request.properties)

    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802
        account = os.environ.get("STAND_IN_ACCOUNT")
        found = json.loads(Path(account).read_text(encoding="utf-8")).get(request.id) if account else None
        if found is None:
            return provider_pb2.ReadResponse()
        inputs = json_format.ParseDict(found, struct_pb2.Struct())
        outputs = json_format.ParseDict({**found, "arn": f"arn:{request.id}"}, struct_pb2.Struct())
        return provider_pb2.ReadResponse(id=request.id, inputs=inputs, properties=outputs)

    def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802
        old = json_format.MessageToDict(request.old_inputs)
        new = json_format.MessageToDict(request.news)
        changed = sorted(key for key in old | new if old.get(key) != new.get(key))
        kinds = provider_pb2.DiffResponse.DiffChanges
        return provider_pb2.DiffResponse(
            changes=kinds.DIFF_SOME if changed else kinds.DIFF_NONE, diffs=changed, replaces=changed
        )

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()


def main() -> None:
    server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", 400 * 1024 * 1024)])
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Aws(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
