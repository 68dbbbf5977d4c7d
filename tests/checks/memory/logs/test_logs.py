"""The arithmetic against the figures that SGLang writes to its own log when it starts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from components.checks.memory.activations import activation_bytes
from components.checks.memory.arithmetic import judge, ledger_of
from components.checks.memory.cases import Fit, MemoryCase, Parallel
from components.checks.memory.catalog import shape_of
from components.checks.memory.ledger import Ledger
from components.checks.memory.shapes import heads_of
from components.contract.tables import read_table
from components.engines.memory.reserve import DraftKind
from components.engines.memory.rows import Device, memory_of
from components.engines.registry import engines

ROWS: list[Mapping[str, Any]] = read_table(Path(__file__).parent / "sglang.yaml")["rows"]
GIB = 2**30
WEIGHTS, SMALL = 0.055, 0.15
"""Largest deviation of weights: a part of them, or so many GiB."""
TOKENS, LARGEST = 0.01, 0.085
"""Largest deviation of the tokens: with the weights of the log, and where it does not say them."""
AFTER = 0.65
"""Largest deviation of what is left beside the cache, in GiB."""


@dataclass(frozen=True)
class Log:
    """A server, and what its log says."""

    row: Mapping[str, Any]
    case: MemoryCase

    @property
    def ledger(self) -> Ledger:
        return ledger_of(self.case)

    @property
    def context(self) -> int:
        return int(self.row["context"])

    @property
    def weights(self) -> float:
        parts = {part.name: part.size for part in self.ledger.parts(self.context)}
        return (parts["weights"] + parts.get("draft model", 0)) / GIB

    @property
    def token_bytes(self) -> float:
        one, two = (self.ledger.of_sequence(context) for context in (2**20, 2**21))
        return (two - one) / 2**20

    @property
    def state_bytes(self) -> int:
        return self.ledger.of_sequence(2**20) - round(self.token_bytes * 2**20)

    @property
    def after(self) -> float:
        """GiB that are left once the cache and the tables of requests are there."""
        ledger, budget = self.ledger, self.case.budget
        left = ledger.left_beside(self.context)
        assert left is not None
        return (left + budget.beside_bytes + activation_bytes(self.case, self.context)) / GIB

    @property
    def tokens(self) -> float:
        """Tokens of the cache with the weights that the log says, so that the share and the pools are compared."""
        weights = float(self.row.get("weights", self.weights))
        rest = self.ledger.usable(self.context) - weights * GIB
        states, budget = self.state_bytes, self.case.budget
        if states:
            rest = rest - budget.states * states if budget.states else rest / float(1 + budget.state_ratio)
        return rest / self.token_bytes


def log_of(row: Mapping[str, Any]) -> Log:
    """Build the case of a row: of an accelerator with exactly the memory that its log says is free."""
    found = shape_of(row["model"])
    assert found
    parallel = Parallel(
        tensor=row.get("tensor", 1),
        pipeline=row.get("pipeline", 1),
        experts=row.get("experts", False),
        groups=row.get("groups", 1),
    )
    case = MemoryCase(
        shape=found,
        device="a GPU of the log",
        device_bytes=int(Decimal(str(row["free"])) * GIB),
        parallel=parallel,
        cache_bytes=Decimal(str(row.get("cache", 2))),
        context=row["context"],
        sequences=row.get("sequences"),
        draft_kind=DraftKind(row.get("draft", "")),
        share=Decimal(str(row["share"])) if "share" in row else None,
    )
    total = int(row.get("gpu_mib", Decimal(str(row["free"])) * 1024)) * 2**20
    device = Device("a GPU of the log", total, parallel.accelerators)
    budget = memory_of(engines()["sglang"], row["version"], device, case.traits)
    assert budget
    budget = budget._replace(process_bytes=0, states=row.get("states"))
    draft = heads_of(found) if case.draft_kind is DraftKind.HEADS else None
    return Log(row, replace(case, budget=budget, draft=draft, draft_tensor=parallel.tensor))


LOGS = [log_of(row) for row in ROWS]
COMPARED = [log for log in LOGS if "differs" not in log.row]


def having(key: str) -> list[Any]:
    return [pytest.param(log, id=log.row["id"]) for log in COMPARED if key in log.row]


def test_there_are_enough_figures() -> None:
    figures = ("weights", "tokens", "after", "token_bytes", "state_bytes")
    assert len({log.row["id"] for log in LOGS}) == len(LOGS)
    assert sum(key in log.row for log in COMPARED for key in figures) >= 60
    assert sum("hybrid" in log.row for log in LOGS) >= 15
    assert sum("hybrid" not in log.row for log in LOGS) >= 15


@pytest.mark.parametrize("log", having("weights"))
def test_the_weights_are_as_large_as_the_log_says(log: Log) -> None:
    assert log.weights == pytest.approx(log.row["weights"], rel=WEIGHTS, abs=SMALL)


@pytest.mark.parametrize("log", having("token_bytes"))
def test_a_token_takes_what_the_log_says(log: Log) -> None:
    assert log.token_bytes == pytest.approx(log.row["token_bytes"], rel=0.001)


@pytest.mark.parametrize("log", having("state_bytes"))
def test_a_state_takes_what_the_log_says(log: Log) -> None:
    assert log.state_bytes == pytest.approx(log.row["state_bytes"], rel=0.001)


@pytest.mark.parametrize("log", having("tokens"))
def test_the_cache_holds_as_many_tokens_as_the_log_says(log: Log) -> None:
    assert log.tokens == pytest.approx(log.row["tokens"], rel=TOKENS if "weights" in log.row else LARGEST)


@pytest.mark.parametrize("log", having("after"))
def test_beside_the_cache_is_left_what_the_log_says(log: Log) -> None:
    assert log.after == pytest.approx(log.row["after"], abs=AFTER)


@pytest.mark.parametrize("log", [pytest.param(log, id=log.row["id"]) for log in LOGS])
def test_no_server_that_started_is_refused_and_no_other_fits(log: Log) -> None:
    fit = judge(log.case, types=False).fit
    if "refused" in log.row:
        assert fit in (Fit.TIGHT, Fit.EXCEEDED)
    elif "part" not in log.row:
        assert fit is not Fit.EXCEEDED
