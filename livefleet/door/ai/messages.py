"""Answers of the external processor, in Envoy's protocol (``envoy.service.ext_proc.v3``).

The classes have no types: nothing but this module and :mod:`.server` touches them.
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
    """Return the headers of a message; of those that are there twice, the last."""
    return {each.key: each.value or each.raw_value.decode("utf-8", "replace") for each in message.headers}


def attribute(request: Message, path: str) -> str:
    """Return an attribute that Envoy sends along; empty if it does not."""
    for fields in request.attributes.values():
        if path in fields.fields:
            return str(fields.fields[path].string_value)
    return ""


def mutation(added: Mapping[str, str], removed: Sequence[str] = ()) -> Message:
    """Return a change of headers: what is there already under a name is replaced."""
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
    """Let a request go on with other headers, and with another body where there is one."""
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
        request_headers=protocol.HeadersResponse(response=common), dynamic_metadata=kept(metadata or {})
    )


def request_body(added: Mapping[str, str]) -> Message:
    """Let a request go on with other headers, for which its route is looked up anew."""
    common = protocol.CommonResponse(header_mutation=mutation(added), clear_route_cache=True)
    return protocol.ProcessingResponse(request_body=protocol.BodyResponse(response=common))


def response_headers(*, streamed: bool) -> Message:
    """Let the headers of an answer go on; its body piece by piece where it is a stream."""
    if not streamed:
        return protocol.ProcessingResponse(response_headers=protocol.HeadersResponse())
    mode = _ProcessingMode(response_body_mode=_ProcessingMode.STREAMED)
    # A length would cut the stream off after its first piece.
    common = protocol.CommonResponse(header_mutation=mutation({}, ["content-length"]))
    return protocol.ProcessingResponse(response_headers=protocol.HeadersResponse(response=common), mode_override=mode)


def response_body(
    metadata: Mapping[str, Any] | None = None, body: bytes | None = None, added: Mapping[str, str] | None = None
) -> Message:
    """Let an answer go on, or a piece of it."""
    common = protocol.CommonResponse(header_mutation=mutation(added or {}))
    if body is not None:
        common.body_mutation.body = body
    return protocol.ProcessingResponse(
        response_body=protocol.BodyResponse(response=common), dynamic_metadata=kept(metadata or {})
    )


def immediate(status: int, body: bytes, content_type: str | None = "application/json") -> Message:
    """Answer in place of the engine."""
    added = {"content-type": content_type, "content-length": str(len(body))} if content_type else {}
    return protocol.ProcessingResponse(
        immediate_response=protocol.ImmediateResponse(
            status=_HttpStatus(code=status), headers=mutation(added), body=body
        )
    )


def kept(values: Mapping[str, Any]) -> Message:
    """Return metadata for the log and for limits; none if there are no values."""
    if not values:
        return None
    found = _Struct()
    found.update({COUNTS: dict(values)})
    return found
