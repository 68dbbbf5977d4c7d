"""A simulation as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING

from components.api.texts.printable import printable

from ..errors import WorkbenchError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from components.simulation.result import Simulation

_INCHES = (10, 6)
_DPI = 120


def write_plot(result: "Simulation", path: Path) -> None:
    """Write a PNG: what the load asks for, and the replicas of each autoscaler.

    Raises:
        WorkbenchError: matplotlib is missing.
    """
    try:
        # The object-oriented interface alone: nothing global, no window, no display.
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise WorkbenchError(f"--plot needs {error.name}: pip install 'inference-platform[workbench]'") from None
    figure = Figure(figsize=_INCHES, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    _loads(above, result)
    _replicas(below, result)
    # Without the name and version of the library the same result is the same file.
    FigureCanvasAgg(figure)
    figure.savefig(path, format="png", dpi=_DPI, metadata={"Software": None})


def _loads(axes: "Axes", result: "Simulation") -> None:
    """Draw each metric divided by its target: the replicas that it asks for."""
    times = _minutes(result)
    for metric, target in result.trial.scenario.metrics.items():
        shares = [float(load / target) for load in result.loads(metric)]
        axes.step(times, shares, where="post", label=_plain(metric))
    axes.set_ylabel("load / target")
    _finish(axes, " with ".join(source.title for source in result.trial.scenario.sources))


def _replicas(axes: "Axes", result: "Simulation") -> None:
    targets = result.trial.scenario.targets
    for run in result.runs:
        axes.step(_minutes(result), [each.total for each in run.passes], where="post", label=run.scaler)
        for target in targets if len(targets) > 1 else ():
            series = [each.replicas[target.name] for each in run.passes]
            label = _plain(f"{run.scaler} {target.name}")
            axes.step(_minutes(result), series, where="post", label=label, linestyle=":")
    axes.set_ylabel("replicas")
    axes.set_xlabel("minutes")
    _finish(axes, "")


def _minutes(result: "Simulation") -> list[float]:
    first = result.moments[0].time
    return [(moment.time - first) / 60_000 for moment in result.moments]


def _finish(axes: "Axes", title: str) -> None:
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc="upper right", fontsize="small")
    axes.set_title(_plain(title), fontsize="medium")


def _plain(text: str) -> str:
    """Return a text in letters that every font has, and no formula: matplotlib reads what is between dollar signs."""
    return printable(text).encode("ascii", "backslashreplace").decode("ascii").replace("$", r"\$")
