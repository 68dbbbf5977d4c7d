"""``workbench simulate``: what an autoscaler does on a trace of metrics, and what that comes to."""

import enum
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.plotting.pictures import check_picture
from toolkit.printing import print_to_stderr

from ..errors import WorkbenchError
from ..subject import STDIN, Paths, Subject, planned, takes_subject
from .inputs import check_defects, check_passes, defects_chosen, milliseconds, prices_given, read_metrics, start_given

if TYPE_CHECKING:
    from components.performance.simulation.hpa.spec import HpaSpec
    from components.performance.simulation.result import Simulation
    from components.performance.simulation.scenario import AutoscalerQuery, Scenario, Simulator
    from components.plan.plan import Plan


class Output(enum.StrEnum):
    """How the result is written."""

    TABLE = "table"
    JSON = "json"


class Against(enum.StrEnum):
    """What to compare with."""

    HPA = "hpa"


Binding = Annotated[
    str,
    typer.Option(
        help="Name, or namespace/name, of the binding whose autoscaler is simulated; its kind may precede: KIND/name."
    ),
]
Policy = Annotated[str, typer.Option(help="Its policy. Default: the one that the binding names.")]
Metrics = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="The trace: CSV or JSON lines with time, target, one column per metric, ready, failed and starting; - "
        "reads stdin.",
    ),
]
Form = Annotated[Output, typer.Option(help="table with a plot, or json for other programs: everything.")]
Literal = Annotated[bool, typer.Option("--literal", help="Simulate the controller as it is, with all its defects.")]
Defects = Annotated[
    list[str] | None, typer.Option(metavar="D-NN", help="Simulate one of its defects; may be repeated.")
]
Compared = Annotated[
    Against | None, typer.Option(help="Compare with the HorizontalPodAutoscaler that is rendered for the binding.")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Write a plot, too.")]
Prices = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TARGET=USD",
        help="What a replica costs an hour; may be repeated. Default: its share of its nodes, where their instance "
        "type has a known price.",
    ),
]
Start = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TARGET=N",
        help="Replicas before the first pass; may be repeated. Default: the pods that the trace counts, or what the "
        "manifest asks for.",
    ),
]
Every = Annotated[
    str,
    typer.Option(
        metavar="SECONDS",
        help="Run a pass every so many seconds; a row holds until the next one. Default: at the times of the trace.",
    ),
]
Whole = Annotated[bool, typer.Option("--all", help="Show every pass, not just those that change something.")]


def register(app: typer.Typer) -> None:
    """Add the ``simulate`` command."""
    app.command()(simulate)


@takes_subject
def simulate(
    subject: Subject,
    *,
    binding: Binding,
    metrics: Metrics,
    paths: Paths = None,
    policy: Policy = "",
    output: Form = Output.TABLE,
    literal: Literal = False,
    defect: Defects = None,
    against: Compared = None,
    plot: Plot = None,
    price: Prices = None,
    start: Start = None,
    every: Every = "",
    whole: Whole = False,
) -> None:
    """Show what the autoscaler of a binding does on a trace of metrics: replicas, cost, time above target."""
    from components.performance.simulation.result import Trial, simulated, starting_replicas
    from components.performance.simulation.scenario import AutoscalerQuery

    check_picture(plot, [".png"])
    check_defects(defect)
    step = milliseconds(every)
    if str(metrics) == STDIN and STDIN in map(str, paths or ()):
        raise WorkbenchError("stdin has either manifests or the trace; write one of them to a file", 2)
    # Namespaces have no capital letters, kinds begin with one.
    kind, name = binding.split("/", 1) if "/" in binding and binding[0].isupper() else ("", binding)
    simulator, scenario, found = _scenario(subject, paths, AutoscalerQuery(name, policy, "", kind))
    defects = defects_chosen(defect, simulator, literal=literal)
    given_prices, given_start = prices_given(price, scenario), start_given(start, scenario)
    hpas = _hpas(found, scenario) if against else {}
    trace = read_metrics(metrics, scenario)
    check_passes(trace, step)
    prices = {**_known_prices(found, scenario), **given_prices}
    replicas = starting_replicas(scenario, trace, given_start)
    result = simulated(Trial(scenario, trace, replicas, defects, step, prices, hpas))
    print_to_stderr(f"note: {note}" for note in _notes(result, every=bool(every)))
    _write(result, output, whole=whole)
    if plot:
        from .plot import write_plot

        write_plot(result, plot)


def _scenario(
    subject: Subject, paths: Sequence[Path] | None, names: "AutoscalerQuery"
) -> "tuple[Simulator, Scenario, Plan]":
    """Return the autoscaler, its simulator and the plan of the manifests, whose other errors do not matter."""
    from components.contract.problems import errors
    from components.families import simulators
    from components.performance.simulation.scenario import ScenarioError, simulator_of

    manifests, found = planned(subject, paths)
    wrong = errors(manifests.problems)
    if wrong:
        raise WorkbenchError("\n".join(map(str, wrong)))
    names = replace(names, namespace=found.environment.options.namespace)
    try:
        simulator = simulator_of(simulators(), manifests.resources, names)
        return simulator, simulator.scenario(manifests.resources, names), found
    except ScenarioError as error:
        raise WorkbenchError(str(error), 2) from None


def _hpas(found: "Plan", scenario: "Scenario") -> "dict[str, HpaSpec]":
    """Return the autoscalers that are rendered for the scenario."""
    from components.contract.problems import errors
    from components.performance.simulation.hpa.spec import HpaError
    from components.performance.simulation.rendered import hpas_of

    wrong = errors(found.problems)
    if wrong:
        raise WorkbenchError("\n".join(map(str, wrong)))
    try:
        return hpas_of(found.fleet, scenario)
    except HpaError as error:
        raise WorkbenchError(str(error)) from None


def _known_prices(found: "Plan", scenario: "Scenario") -> dict[str, Decimal]:
    from components.performance.simulation.rendered import prices_of

    return prices_of(found.fleet, scenario)


def _notes(result: "Simulation", *, every: bool) -> Iterator[str]:
    """Yield what somebody who reads the result should know."""
    from components.performance.simulation.trace import INTERVAL

    trial = result.trial
    yield from trial.scenario.notes
    times = [moment.time for moment in result.moments]
    steps = sorted(after - before for before, after in itertools.pairwise(times))
    usual = steps[len(steps) // 2] if steps else INTERVAL
    if usual != INTERVAL and not every:
        yield (
            f"the trace has a row every {usual / 1000:g} s, and so many passes; autoscalers look every "
            f"{INTERVAL // 1000} s: pass --every {INTERVAL // 1000} to hold each row until the next one"
        )
    unknown = [target.name for target in trial.scenario.targets if target.name not in (trial.prices or {})]
    if unknown:
        yield f"no price is known of a replica of {', '.join(unknown)}; pass --price {unknown[0]}=<USD per hour>"


def _write(result: "Simulation", output: Output, *, whole: bool) -> None:
    if output is Output.JSON:
        sys.stdout.write(json.dumps(result.as_dict(), indent=2) + "\n")
        return
    from .report import show

    show(result, whole=whole)
