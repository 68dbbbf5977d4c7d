"""Responses of the external processor, in Envoy's protocol (``envoy.service.ext_proc.v3``).

The message classes are untyped; only this module and :mod:`.server` use them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..protocol import Message, Package, message
from .filters import COUNTS

protocol = Package("envoy.service.ext_proc.v3")
_core = Package("envoy.config.core.v3")
_ProcessingMode = message("envoy.extensions.filters.http.ext_proc.v3.ProcessingMode")
_HttpStatus = message("envoy.type.v3.HttpStatus")
_Struct = message("google.protobuf.Struct")
_OVERWRITE = _core.HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD


def headers_of(message: Message) -> dict[str, str]:
    """Return the headers of a message; the last one of a repeated name."""
    return {header.key: header.value or header.raw_value.decode("utf-8", "replace") for header in message.headers}


def attribute(request: Message, path: str) -> str:
    """Return an attribute of a request; empty if Envoy did not send it."""
    for fields in request.attributes.values():
        if path in fields.fields:
            return str(fields.fields[path].string_value)
    return ""


def mutation(added: Mapping[str, str], removed: Sequence[str] = ()) -> Message:
    """Return a header mutation; ``added`` overwrites existing headers."""
    return protocol.HeaderMutation(
        set_headers=[
            _core.HeaderValueOption(
                header=_core.HeaderValue(key=key, raw_value=value.encode()), append_action=_OVERWRITE
            )
            for key, value in added.items()
        ],
        remove_headers=list(removed),
    )


def request_headers(
    added: Mapping[str, str],
    removed: Sequence[str] = (),
    body: bytes | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """Continue a request with changed headers, and with ``body`` unless it is None."""
    changes = mutation(added, removed)
    if body is None:
        common = protocol.CommonResponse(header_mutation=changes)
    else:
        common = protocol.CommonResponse(
            header_mutation=changes,
            body_mutation=protocol.BodyMutation(body=body),
            status=protocol.CommonResponse.CONTINUE_AND_REPLACE,
        )
    return protocol.ProcessingResponse(
        request_headers=protocol.HeadersResponse(response=common), dynamic_metadata=_dynamic_metadata(metadata or {})
    )


def request_body(added: Mapping[str, str]) -> Message:
    """Continue a request with changed headers, and select its route again."""
    common = protocol.CommonResponse(header_mutation=mutation(added), clear_route_cache=True)
    return protocol.ProcessingResponse(request_body=protocol.BodyResponse(response=common))


def response_headers(*, streamed: bool) -> Message:
    """Continue a response; its body comes in chunks if it is streamed."""
    if not streamed:
        return protocol.ProcessingResponse(response_headers=protocol.HeadersResponse())
    mode = _ProcessingMode(response_body_mode=_ProcessingMode.STREAMED)
    # Envoy would truncate the stream to the length (ai-gateway v1.1.0 internal/extproc/processor_impl.go).
    common = protocol.CommonResponse(header_mutation=mutation({}, ["content-length"]))
    return protocol.ProcessingResponse(response_headers=protocol.HeadersResponse(response=common), mode_override=mode)


def response_body(
    metadata: Mapping[str, Any] | None = None, body: bytes | None = None, added: Mapping[str, str] | None = None
) -> Message:
    """Continue a response body, or a chunk of it."""
    common = protocol.CommonResponse(header_mutation=mutation(added or {}))
    if body is not None:
        common.body_mutation.body = body
    return protocol.ProcessingResponse(
        response_body=protocol.BodyResponse(response=common), dynamic_metadata=_dynamic_metadata(metadata or {})
    )


def immediate(status: int, body: bytes, content_type: str | None = "application/json") -> Message:
    """Respond in place of the engine."""
    added = {"content-type": content_type, "content-length": str(len(body))} if content_type else {}
    return protocol.ProcessingResponse(
        immediate_response=protocol.ImmediateResponse(
            status=_HttpStatus(code=status), headers=mutation(added), body=body
        )
    )


def _dynamic_metadata(values: Mapping[str, Any]) -> Message:
    """Return dynamic metadata for the access log and for rate limits; None without values."""
    if not values:
        return None
    metadata = _Struct()
    metadata.update({COUNTS: dict(values)})
    return metadata
