"""The external processor as a gRPC server on loopback: a stand-in for the AI gateway's sidecar.

A stand-in for ai-gateway v1.1.0 ``internal/extproc/server.go``. The real one listens on a socket in Envoy's pod;
this one on a port of loopback, which takes nothing but Envoy's protocol.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import grpc.aio  # type: ignore[import-untyped]

from ..protocol import Message
from .config import ProcessorConfig, read_config
from .filters import BACKEND_PATH, ROUTE_PATH
from .messages import attribute, headers_of, protocol
from .processor import REQUEST_ID, ProcessingError, RequestProcessor, lists_models

_LARGEST = 512 * 2**20
"""Bytes of a message, ``extProcMaxRecvMsgSize`` of ``cmd/controller/main.go``: a whole body is in one."""
_SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor"
_LOOK_EVERY = 0.5
"""Seconds between two looks at the configuration."""


class ExternalProcessor:
    """Answers Envoy's streams.

    Attributes:
        config: What it knows; may be replaced at any time, for requests that come after it.
    """

    def __init__(self, config: ProcessorConfig) -> None:
        self.config = config
        self._requests: dict[str, RequestProcessor] = {}

    async def process(self, incoming: AsyncIterator[Message], context: Any) -> AsyncIterator[Message]:  # noqa: ANN401  # grpc has no types
        """Answer one stream."""
        number = ""
        try:
            async for message in incoming:
                answer, number = self._answered(message, number)
                yield answer
        except ProcessingError as problem:
            await context.abort(grpc.StatusCode.UNKNOWN, str(problem))
        finally:
            self._requests.pop(number, None)

    def _answered(self, message: Message, number: str) -> tuple[Message, str]:
        """Return the answer to a message, and the number of the request whose listener's stream this is."""
        kind = message.WhichOneof("request")
        if kind == "request_headers":
            headers = headers_of(message.request_headers.headers)
            if message.attributes:
                return self._to_backend(message, headers), ""
            return self._arrived(headers)
        request = self._requests.get(number)
        if kind == "request_body":
            body = message.request_body
            return (request.on_body(body.body) if request else protocol.ProcessingResponse(request_body={})), number
        if kind == "response_headers":
            found = headers_of(message.response_headers.headers)
            if request:
                return request.on_response_headers(found), number
            return protocol.ProcessingResponse(response_headers={}), number
        if kind == "response_body":
            piece = message.response_body
            if request:
                return request.on_response_body(piece.body, ends=piece.end_of_stream), number
            return protocol.ProcessingResponse(response_body={}), number
        raise ProcessingError(f"unknown request type: {kind}")

    def _arrived(self, headers: dict[str, str]) -> tuple[Message, str]:
        own = lists_models(headers.get(":path", ""), headers, self.config)
        if own is not None:
            return own, ""
        # Request IDs may be the client's, and the same twice.
        number = f"{headers.get('x-request-id', '')}-{uuid.uuid4()}"
        request = self._requests[number] = RequestProcessor(self.config, headers, number)
        return request.on_headers(), number

    def _to_backend(self, message: Message, headers: dict[str, str]) -> Message:
        request = self._requests.get(headers.get(REQUEST_ID, ""))
        if request is None:
            raise ProcessingError("no router processor found")
        return request.to_backend(attribute(message, BACKEND_PATH), attribute(message, ROUTE_PATH))


async def started(processor: ExternalProcessor, host: str, port: int) -> tuple[grpc.aio.Server, int]:
    """Start a server; return it with its port, which 0 leaves to the system."""
    sizes = [("grpc.max_receive_message_length", _LARGEST), ("grpc.max_send_message_length", _LARGEST)]
    server = grpc.aio.server(options=[*sizes, ("grpc.so_reuseport", 0)])
    handler = grpc.stream_stream_rpc_method_handler(
        processor.process,
        request_deserializer=protocol.ProcessingRequest.FromString,
        response_serializer=protocol.ProcessingResponse.SerializeToString,
    )
    service = grpc.method_handlers_generic_handler(_SERVICE, {"Process": handler})
    server.add_generic_rpc_handlers((service,))
    found = server.add_insecure_port(f"{host}:{port}")
    await server.start()
    return server, found


async def serve(file: Path, host: str, port: int) -> None:
    """Serve until the task is cancelled, by a configuration that may be written anew at any time."""
    processor, seen = ExternalProcessor(read_config(file)), file.stat().st_mtime_ns
    server, _ = await started(processor, host, port)
    try:
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            now = file.stat().st_mtime_ns
            if now != seen:
                processor.config, seen = read_config(file), now
    finally:
        await server.stop(0)
