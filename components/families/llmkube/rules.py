"""What the API server gets wrong in LLMKube's schema, said again as a rule (LLMKube spec 1.1)."""

from collections.abc import Iterator

from ...contract.base import Json, Rule, Violation


def _checked_by_its_type(_config: Json) -> Iterator[Violation]:
    yield from ()


# The server compares an integer with a bound cut to an integer, so that 0 would pass a minimum of 0.1.
GPU_SHARE = Rule(
    "gpuMemoryUtilization must be at least 0.1 and at most 0.99",
    _checked_by_its_type,
    "!has(self.gpuMemoryUtilization) || (self.gpuMemoryUtilization >= 0.1 && self.gpuMemoryUtilization <= 0.99)",
)
