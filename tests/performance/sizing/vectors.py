"""The test vectors of WVA spec 8.10, digit by digit as they are printed there.

The first two are also in logs of upstream's controller (docs/hpa-integration.md and docs/keda-integration.md at
c0f645c). A figure is a text: it agrees if the computed one, rounded to as many digits, is that text.
"""

from dataclasses import dataclass, field

from components.performance.sizing.cases import Case, Limit
from tests.performance.sizing.plain import case

PREMIUM = (24, 500)


@dataclass(frozen=True)
class Vector:
    """A case, and what is printed for it: fields of the answer, or of its behaviour, by name."""

    case: Case
    replicas: int
    figures: dict[str, str] = field(default_factory=dict)
    limit: Limit = Limit.TTFT


A100 = {"most_per_minute": "25.31145", "ttft_per_minute": "25.31145", "capacity_per_minute": "60.6195"}
H100 = {"most_per_minute": "620.040", "itl_per_minute": "620.040", "ttft_per_minute": "2063.07"}
MI300X, GAUDI2 = {"most_per_minute": "86.6631"}, {"most_per_minute": "31.8999"}
SMALL = {"most_per_minute": "3327.398"}
BOTH_H100 = {**H100, "capacity_per_minute": "2105.97", "itl_ms": "8.45443"}

VECTORS = [
    Vector(
        case(20.58, 0.41, 4, 178, PREMIUM, 40, cents=40),
        2,
        {**A100, "itl_ms": "21.49347", "wait_ms": "69.767", "utilisation": "0.717897", "cents_per_hour": "80"},
    ),
    Vector(
        case(20.58, 0.41, 4, 178, PREMIUM, 41.32),
        2,
        {"itl_ms": "21.50900", "wait_ms": "78.636", "utilisation": "0.729748"},
    ),
    *(Vector(case(20.58, 0.41, 4, 178, PREMIUM, rate), n, A100) for rate, n in ((10, 1), (100, 4), (200, 8))),
    *(
        Vector(case(7.77, 0.15, 4, 178, PREMIUM, rate, cents=65), n, {**MI300X, "cents_per_hour": cost})
        for rate, n, cost in ((40, 1, "65"), (100, 2, "130"), (200, 3, "195"))
    ),
    *(
        Vector(case(17.15, 0.34, 4, 178, PREMIUM, rate, cents=23), n, {**GAUDI2, "cents_per_hour": cost})
        for rate, n, cost in ((40, 2, "46"), (100, 4, "92"), (200, 7, "161"))
    ),
    *(
        Vector(case(6.958, 0.042, 512, 512, (9, 1000), rate), n, BOTH_H100, Limit.ITL)
        for rate, n in ((480, 1), (960, 2), (1440, 3))
    ),
    *(
        Vector(case(6.973, 0.027, 64, 128, (9, 1000), rate), n, {**SMALL, "itl_ms": itl})
        for rate, n, itl in ((600, 1, "7.2506"), (3000, 1, "8.4569"), (6000, 2, "8.4569"))
    ),
    Vector(case(22.619, 0.181, 512, 512, (30, 1000), 480), 4, {"most_per_minute": "155.387"}, Limit.ITL),
    Vector(
        case(27.41, 0.707, 5, 512, (80, 500), 30, cents=40, count=4),
        5,
        {"most_per_minute": "6.69766", "cents_per_hour": "800"},
    ),
]
INFEASIBLE = [case(50, 0.15, 4, 178, PREMIUM, rate) for rate in (1, 40, 1e6)]
DEGENERATE = [
    (case(20.58, 0, 4, 178, PREMIUM, 40), "beta is 0"),
    (case(20.58, 0.41, 1, 178, PREMIUM, 40), "the maximum batch size is 1"),
]


def printed(figure: float, text: str) -> str:
    """Write a figure with as many decimals as a text has."""
    return f"{figure:.{len(text.partition('.')[2])}f}"
