"""How much a client may ask of the gateway."""

import re

from ..api.quantity import parse_quantity
from .report import Report

BODY_SIZE = "50Mi"
"""As in Envoy AI Gateway's examples. An image of 10 MB is 14 MB in a prompt; a proxy holds each body in memory."""
_SIZE = re.compile(r"[1-9][0-9]*([KMG]i|[kMG])?\Z", re.ASCII)
"""Of the forms that Envoy Gateway takes (``HTTP2Settings``, ``ClientConnection``), those that are needed."""
_SIZES = {"64Ki": 2**16, "500Mi": 500 * 2**20}
"""Bounds of a body: the smallest window of HTTP/2 (RFC 9113, 6.9.2), and the AI gateway's largest message of 512 MiB
with room for what is around the body (``extProcMaxRecvMsgSize``, ai-gateway v1.1 cmd/controller/main.go)."""


def check_body_size(size: str, report: Report) -> None:
    """Report a size that is none, or out of bounds."""
    low, high = _SIZES
    if not _SIZE.match(size) or not _SIZES[low] <= parse_quantity(size) <= _SIZES[high]:
        reason = f"must be a size from {low} to {high}, such as {BODY_SIZE}, found {size!r}"
        report.error("maxBodySize", reason)
