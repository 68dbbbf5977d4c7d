"""A plot of a simulation as a PNG file."""

from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.plotting.pictures import finish, picture, plain_text

if TYPE_CHECKING:
    from components.performance.simulation.result import Simulation


def write_plot(result: "Simulation", path: Path) -> None:
    """Write a PNG with the load above and the replicas of each autoscaler below.

    Raises:
        WorkbenchError: matplotlib is missing.
    """
    scenario, targets = result.trial.scenario, result.trial.scenario.targets
    first = result.moments[0].time
    minutes = [(moment.time - first) / 60_000 for moment in result.moments]
    with picture(path) as figure:
        above, below = figure.subplots(2, 1, sharex=True)
        # A metric divided by its target is the number of replicas that it calls for.
        for metric, target in scenario.metrics.items():
            shares = [float(load / target) for load in result.loads(metric)]
            above.step(minutes, shares, where="post", label=plain_text(metric))
        above.set_ylabel("load / target")
        finish(above, " with ".join(source.title for source in scenario.sources))
        for run in result.runs:
            below.step(minutes, [step.total for step in run.passes], where="post", label=run.scaler)
            for scaled in targets if len(targets) > 1 else ():
                replicas = [step.replicas[scaled.name] for step in run.passes]
                label = plain_text(f"{run.scaler} {scaled.name}")
                below.step(minutes, replicas, where="post", label=label, linestyle=":")
        below.set_ylabel("replicas")
        below.set_xlabel("minutes")
        finish(below, "")
