"""A plot of a simulation as a PNG file."""

from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.plotting.pictures import finish, picture, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from components.performance.simulation.result import Simulation


def write_plot(result: "Simulation", path: Path) -> None:
    """Write a PNG with the load above and the replicas of each autoscaler below.

    Raises:
        WorkbenchError: matplotlib is missing.
    """
    with picture(path) as figure:
        above, below = figure.subplots(2, 1, sharex=True)
        _loads(above, result)
        _replicas(below, result)


def _loads(axes: "Axes", result: "Simulation") -> None:
    """Draw each metric divided by its target, which is the number of replicas it calls for."""
    times = _minutes(result)
    for metric, target in result.trial.scenario.metrics.items():
        shares = [float(load / target) for load in result.loads(metric)]
        axes.step(times, shares, where="post", label=plain_text(metric))
    axes.set_ylabel("load / target")
    finish(axes, " with ".join(source.title for source in result.trial.scenario.sources))


def _replicas(axes: "Axes", result: "Simulation") -> None:
    targets = result.trial.scenario.targets
    for run in result.runs:
        axes.step(_minutes(result), [each.total for each in run.passes], where="post", label=run.scaler)
        for target in targets if len(targets) > 1 else ():
            series = [each.replicas[target.name] for each in run.passes]
            label = plain_text(f"{run.scaler} {target.name}")
            axes.step(_minutes(result), series, where="post", label=label, linestyle=":")
    axes.set_ylabel("replicas")
    axes.set_xlabel("minutes")
    finish(axes, "")


def _minutes(result: "Simulation") -> list[float]:
    first = result.moments[0].time
    return [(moment.time - first) / 60_000 for moment in result.moments]
