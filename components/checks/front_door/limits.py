"""Rate limits and body sizes of the gateway."""

import re
from typing import NamedTuple

from ...contract.quantity import parse_quantity
from .report import Report
from .words import LimitUnit

BODY_SIZE = "50Mi"
"""As in Envoy AI Gateway's examples. A 10 MB image is 14 MB in a prompt; proxies hold each body in memory."""
_SIZE = re.compile(r"[1-9][0-9]*([KMG]i|[kMG])?\Z", re.ASCII)
"""A subset of the formats that Envoy Gateway accepts (``HTTP2Settings``, ``ClientConnection``)."""
_SIZES = {"64Ki": 2**16, "500Mi": 500 * 2**20}
"""Bounds of a body: the smallest window of HTTP/2 (RFC 9113, 6.9.2), and the AI gateway's largest message of 512 MiB
with room for the envelope (``extProcMaxRecvMsgSize``, ai-gateway v1.1 cmd/controller/main.go)."""

_MOST = 2**32 - 1
"""Maximum of ``RateLimitValue.requests`` (Envoy Gateway, gateway.envoyproxy.io/v1alpha1)."""
SECURE = "rediss://"
_REDIS = re.compile(r"(rediss://)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?:[1-9][0-9]{0,4}\Z", re.ASCII)


class RateLimit(NamedTuple):
    """Limits per client.

    Without Redis, each proxy counts separately for each model; with Redis, all proxies count together for all models.

    Attributes:
        requests: Requests per unit.
        tokens: Tokens per unit, of prompts and answers. They are counted after an answer, so the next request is
            rejected.
        redis: ``host:port`` of a Redis, prefixed with ``rediss://`` for TLS.
    """

    requests: int | None = None
    tokens: int | None = None
    unit: LimitUnit = LimitUnit.MINUTE
    redis: str | None = None

    @property
    def limits(self) -> bool:
        """Whether any limit is set."""
        return self.requests is not None or self.tokens is not None


NO_LIMIT = RateLimit()


def check_rate_limit(limit: RateLimit, report: Report) -> None:
    """Reject limits out of range, or that cannot be counted."""
    for field, value in (("requests", limit.requests), ("tokens", limit.tokens)):
        if value is not None and not 1 <= value <= _MOST:
            report.error(f"rateLimit.{field}", f"must be from 1 to {_MOST}, found {value}")
    if limit.redis is not None and not _REDIS.match(limit.redis):
        reason = (
            "must be the host:port of a Redis without a password, prefixed with rediss:// for TLS, such as "
            f"redis.redis.svc.cluster.local:6379, found {limit.redis!r}"
        )
        report.error("rateLimit.redis", reason)
    if limit.tokens is not None and limit.redis is None:
        reason = (
            "requires rateLimit.redis, because a proxy cannot count tokens after an answer by itself; set it "
            "to the host:port of a Redis, or limit requests"
        )
        report.error("rateLimit.tokens", reason)
    if limit != NO_LIMIT and not limit.limits:
        report.error("rateLimit", "has no limit; set requests or tokens, or remove it")


def check_body_size(size: str, report: Report) -> None:
    """Reject sizes that are invalid or out of range."""
    low, high = _SIZES
    if not _SIZE.match(size) or not _SIZES[low] <= parse_quantity(size) <= _SIZES[high]:
        reason = f"must be a size from {low} to {high}, such as {BODY_SIZE}, found {size!r}"
        report.error("maxBodySize", reason)
