"""The external processor as a gRPC server on loopback.

A stand-in for ai-gateway v1.1.0 ``internal/extproc/server.go``. The real one is a sidecar that listens on a socket in
Envoy's pod.
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
from .processor import REQUEST_ID, ProcessingError, RequestProcessor, gateway_response

_MAX_MESSAGE_BYTES = 512 * 2**20
"""A message contains a whole body (``extProcMaxRecvMsgSize`` of ``cmd/controller/main.go``)."""
_SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor"
_POLL_INTERVAL = 0.5
"""Seconds between two checks of the configuration file."""


class ExternalProcessor:
    """Serves Envoy's streams.

    Attributes:
        config: May be replaced at any time; it applies to the requests that arrive afterwards.
    """

    def __init__(self, config: ProcessorConfig) -> None:
        self.config = config
        self._requests: dict[str, RequestProcessor] = {}

    async def process(self, incoming: AsyncIterator[Message], context: Any) -> AsyncIterator[Message]:  # noqa: ANN401  # grpc has no types
        """Serve one stream."""
        number = ""
        try:
            async for message in incoming:
                response, number = self._respond(message, number)
                yield response
        except ProcessingError as problem:
            await context.abort(grpc.StatusCode.UNKNOWN, str(problem))
        finally:
            self._requests.pop(number, None)

    def _respond(self, message: Message, number: str) -> tuple[Message, str]:
        """Return the response to a message, and the number of the request if this is its listener's stream."""
        kind = message.WhichOneof("request")
        if kind == "request_headers":
            headers = headers_of(message.request_headers.headers)
            # Only the filter of a backend's chain has ``requestAttributes``.
            if message.attributes:
                request = self._requests.get(headers.get(REQUEST_ID, ""))
                if request is None:
                    raise ProcessingError("no router processor found")
                return request.to_backend(attribute(message, BACKEND_PATH), attribute(message, ROUTE_PATH)), ""
            response = gateway_response(headers.get(":path", ""), headers, self.config)
            if response is not None:
                return response, ""
            # Clients may send request IDs, and the same one twice.
            number = f"{headers.get('x-request-id', '')}-{uuid.uuid4()}"
            request = self._requests[number] = RequestProcessor(self.config, headers, number)
            return request.on_headers(), number
        request = self._requests.get(number)
        if kind == "request_body":
            body = message.request_body
            return (request.on_body(body.body) if request else protocol.ProcessingResponse(request_body={})), number
        if kind == "response_headers":
            if request:
                return request.on_response_headers(headers_of(message.response_headers.headers)), number
            return protocol.ProcessingResponse(response_headers={}), number
        if kind == "response_body":
            piece = message.response_body
            if request:
                return request.on_response_body(piece.body, ends=piece.end_of_stream), number
            return protocol.ProcessingResponse(response_body={}), number
        raise ProcessingError(f"unknown request type: {kind}")


async def started(processor: ExternalProcessor, host: str, port: int) -> tuple[grpc.aio.Server, int]:
    """Start a server; return it and its port, which the system chooses if ``port`` is 0."""
    sizes = [
        ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
    ]
    server = grpc.aio.server(options=[*sizes, ("grpc.so_reuseport", 0)])
    handler = grpc.stream_stream_rpc_method_handler(
        processor.process,
        request_deserializer=protocol.ProcessingRequest.FromString,
        response_serializer=protocol.ProcessingResponse.SerializeToString,
    )
    service = grpc.method_handlers_generic_handler(_SERVICE, {"Process": handler})
    server.add_generic_rpc_handlers((service,))
    bound_port = server.add_insecure_port(f"{host}:{port}")
    await server.start()
    return server, bound_port


async def serve(file: Path, host: str, port: int) -> None:
    """Serve until the task is cancelled; reload the configuration file whenever it changes."""
    processor, loaded = ExternalProcessor(read_config(file)), file.stat().st_mtime_ns
    server, _ = await started(processor, host, port)
    try:
        while True:
            await asyncio.sleep(_POLL_INTERVAL)
            modified = file.stat().st_mtime_ns
            if modified != loaded:
                processor.config, loaded = read_config(file), modified
    finally:
        await server.stop(0)
