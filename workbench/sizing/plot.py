"""A plot of latency against load, with the SLO and the operating point of the replicas."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.plotting.pictures import finish, picture

from .curve import Curve, curve_of
from .report import first_token_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from components.performance.sizing.assessments import Assessment

POINTS = 200
"""Points of a curve."""
_ABOVE = 2.5
"""Upper end of the axis as a multiple of the target or the operating latency: latency diverges near capacity."""


def write_plot(assessment: "Assessment", curve: Curve, title: str, path: Path) -> None:
    """Write an SVG or PNG for one accelerator.

    Raises:
        WorkbenchError: matplotlib is missing.
    """
    targets, behavior = assessment.question.targets, assessment.sized.behaviour
    with picture(path) as figure:
        above, below = figure.subplots(2, 1, sharex=True)
        above.set_ylabel("ITL, mean, ms")
        _draw(above, "itl", curve, curve.itl_ms, targets.itl_ms)
        below.set_ylabel(f"{first_token_title([assessment])}, 95 %, ms")
        _draw(below, "ttft", curve, curve.ttft_p95_ms, targets.ttft_ms)
        below.set_xlabel("requests per minute and replica")
        for name, end in _ends(assessment, curve):
            for axes, metric, latencies in ((above, "itl", end.itl_ms), (below, "ttft", end.ttft_p95_ms)):
                (line,) = axes.plot(end.rates, latencies, linestyle="-.", linewidth=1, alpha=0.6)
                line.set_label(f"{name} possible")
                line.set_gid(f"{metric}-{name}")
        if behavior:
            _mark(above, "itl", assessment, behavior.itl_ms)
            _mark(below, "ttft", assessment, assessment.first_p95_ms or 0)
        finish(above, title, "lower right")
        finish(below, "", "upper left")
        last, limit = curve.ttft_p95_ms[-1], max(targets.ttft_ms, assessment.first_p95_ms or 0) * _ABOVE
        below.set_ylim(top=(min(last, limit) if limit else last) * 1.05)


def _draw(axes: "Axes", name: str, curve: Curve, values: tuple[float, ...], target: int) -> None:
    (line,) = axes.plot(curve.rates, values, label="predicted")
    line.set_gid(f"{name}-predicted")
    if target:
        axes.axhline(target, linestyle="--", color="tab:red", label=f"target: {target} ms").set_gid(
            f"{name}-promised"
        )


def _ends(assessment: "Assessment", curve: Curve) -> Iterator[tuple[str, Curve]]:
    """Yield the curves of the fastest and slowest possible replica, if the figures are uncertain."""
    for name, sized in zip(("fastest", "slowest"), assessment.ends or (), strict=False):
        end = curve_of(sized, assessment.question.prefill_ms, POINTS, up_to=curve.rates[-1])
        if end and sized.case.profile != assessment.candidate.profile:
            yield name, end


def _mark(axes: "Axes", name: str, assessment: "Assessment", value: float) -> None:
    """Mark the load of a replica, and the highest load that meets the SLO."""
    sized, behavior = assessment.sized, assessment.sized.behaviour
    if behavior is None:
        return
    most = sized.most_per_minute
    axes.axvline(most, linestyle=":", color="tab:gray", label=f"at most {most:.4g}/min").set_gid(f"{name}-most")
    replicas = f"{sized.replicas} replica{'s' if sized.replicas != 1 else ''}"
    label = f"{replicas}: {behavior.per_minute:.4g}/min, {value:.4g} ms"
    (point,) = axes.plot([behavior.per_minute], [value], "o", color="tab:green", label=label)
    point.set_gid(f"{name}-operating")
