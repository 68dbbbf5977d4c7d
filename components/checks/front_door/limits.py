"""How much a client may ask of the gateway."""

import re
from dataclasses import dataclass

from ...contract.quantity import parse_quantity
from .report import Report
from .words import LimitUnit

BODY_SIZE = "50Mi"
"""As in Envoy AI Gateway's examples. An image of 10 MB is 14 MB in a prompt; a proxy holds each body in memory."""
_SIZE = re.compile(r"[1-9][0-9]*([KMG]i|[kMG])?\Z", re.ASCII)
"""Of the forms that Envoy Gateway takes (``HTTP2Settings``, ``ClientConnection``), those that are needed."""
_SIZES = {"64Ki": 2**16, "500Mi": 500 * 2**20}
"""Bounds of a body: the smallest window of HTTP/2 (RFC 9113, 6.9.2), and the AI gateway's largest message of 512 MiB
with room for what is around the body (``extProcMaxRecvMsgSize``, ai-gateway v1.1 cmd/controller/main.go)."""

_MOST = 2**32 - 1
"""Bound of ``RateLimitValue.requests`` (Envoy Gateway, gateway.envoyproxy.io/v1alpha1)."""
SECURE = "rediss://"
_REDIS = re.compile(r"(rediss://)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?:[1-9][0-9]{0,4}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How much each client may ask for.

    Without a Redis every proxy counts by itself, for each model; with one they count together, for all models.

    Attributes:
        requests: Requests per unit.
        tokens: Tokens per unit, of prompts and answers. They are known after an answer: the next request is refused.
        redis: ``host:port`` of a Redis, with ``rediss://`` before it for TLS.
    """

    requests: int | None = None
    tokens: int | None = None
    unit: LimitUnit = LimitUnit.MINUTE
    redis: str | None = None

    @property
    def limits(self) -> bool:
        """Whether there is a limit at all."""
        return self.requests is not None or self.tokens is not None


NO_LIMIT = RateLimit()


def check_rate_limit(limit: RateLimit, report: Report) -> None:
    """Report limits that are none, or that nobody could count."""
    for field, value in (("requests", limit.requests), ("tokens", limit.tokens)):
        if value is not None and not 1 <= value <= _MOST:
            report.error(f"rateLimit.{field}", f"must be from 1 to {_MOST}, found {value}")
    if limit.redis is not None and not _REDIS.match(limit.redis):
        reason = (
            "must be the host:port of a Redis without a password, with rediss:// before it for TLS, such as "
            f"redis.redis.svc.cluster.local:6379, found {limit.redis!r}"
        )
        report.error("rateLimit.redis", reason)
    if limit.tokens is not None and limit.redis is None:
        reason = (
            "requires rateLimit.redis: tokens are counted after an answer, which a proxy cannot do by itself; set it "
            "to the host:port of a Redis, or limit requests"
        )
        report.error("rateLimit.tokens", reason)
    if limit != NO_LIMIT and not limit.limits:
        report.error("rateLimit", "limits nothing; set requests or tokens, or remove it")


def check_body_size(size: str, report: Report) -> None:
    """Report a size that is none, or out of bounds."""
    low, high = _SIZES
    if not _SIZE.match(size) or not _SIZES[low] <= parse_quantity(size) <= _SIZES[high]:
        reason = f"must be a size from {low} to {high}, such as {BODY_SIZE}, found {size!r}"
        report.error("maxBodySize", reason)
