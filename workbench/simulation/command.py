"""``workbench simulate``: replay a metrics trace through an autoscaler, or a trace of requests through a fleet."""

import enum
import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.plotting.pictures import check_picture
from toolkit.printing import Format, output_option, print_to_stderr
from toolkit.screen import Details, Screen, write

from ..errors import WorkbenchError
from ..subject import STDIN, Paths, Subject, planned, takes_subject
from .inputs import (
    check_defects,
    check_passes,
    milliseconds,
    parse_prices,
    parse_replicas,
    read_metrics,
    select_defects,
)
from .options import TraceScale, TraceShares

if TYPE_CHECKING:
    from components.performance.simulation.hpa.spec import HpaSpec
    from components.performance.simulation.result import Simulation
    from components.performance.simulation.scenario import AutoscalerQuery, Scenario, Simulator
    from components.plan.plan import Plan


class Against(enum.StrEnum):
    HPA = "hpa"


Binding = Annotated[
    str,
    typer.Option(help="Binding whose autoscaler to simulate, as name, namespace/name or KIND/name."),
]
Fleet = Annotated[
    bool,
    typer.Option(
        "--fleet",
        help="Simulate all models with their engines, autoscalers and nodes under the requests of --trace, instead "
        "of the autoscaler of --binding.",
    ),
]
Traces = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[MODEL=]FILE",
        help="Requests of --fleet: CSV or JSON lines with time, input_tokens and output_tokens, or a published trace "
        "of Azure, Mooncake or BurstGPT. Without MODEL, for all models by --share. Can be repeated.",
    ),
]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", min=1.0, help="Time after which a client gives up.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result with --fleet.")]
Policy = Annotated[str, typer.Option(help="Autoscaling policy. Defaults to the one that the binding references.")]
Metrics = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Metrics trace: CSV or JSON lines with time, target, one column per metric, ready, failed and starting; "
        "- reads stdin.",
    ),
]
Form = Annotated[Format, output_option("Output format: text with a plot, or all figures as JSON.")]
Literal = Annotated[bool, typer.Option("--literal", help="Simulate the controller with all of its known defects.")]
Defects = Annotated[
    list[str] | None, typer.Option(metavar="D-NN", help="Simulate a known defect of the controller. Can be repeated.")
]
Compared = Annotated[
    Against | None, typer.Option(help="Compare with the HorizontalPodAutoscaler that is rendered for the binding.")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Write a plot to a file.")]
Prices = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TARGET=USD",
        help="Hourly price of a replica in US dollars. Can be repeated. Defaults to its share of the price of its "
        "nodes, if that is known.",
    ),
]
Start = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TARGET=N",
        help="Replicas before the first pass. Can be repeated. Defaults to the pods in the trace, or to the replicas "
        "in the manifest.",
    ),
]
Every = Annotated[
    str,
    typer.Option(
        metavar="SECONDS",
        help="Interval between passes; a row applies until the next one. Defaults to the times of the trace.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the ``simulate`` command."""
    app.command()(simulate)


@takes_subject
def simulate(
    subject: Subject,
    *,
    binding: Binding = "",
    metrics: Metrics = None,
    fleet: Fleet = False,
    trace: Traces = None,
    share: TraceShares = None,
    scale: TraceScale = 1.0,
    timeout: Timeout = 300.0,
    seed: Seed = 0,
    paths: Paths = None,
    policy: Policy = "",
    output: Form = Format.TEXT,
    literal: Literal = False,
    defect: Defects = None,
    against: Compared = None,
    plot: Plot = None,
    price: Prices = None,
    start: Start = None,
    every: Every = "",
    details: Details = False,
) -> None:
    """Replay a metrics trace through the autoscaler of a binding, and report replicas, cost and time above target.

    With --fleet, replay a trace of requests through all models in virtual time, and report latencies, lost requests,
    replicas, GPU-hours and cost.
    """
    from components.performance.simulation.rendered import prices_of
    from components.performance.simulation.result import Trial, simulated, starting_replicas
    from components.performance.simulation.scenario import AutoscalerQuery

    check_picture(plot, [".png"])
    of_binding = {
        "--binding": binding,
        "--metrics": metrics,
        "--policy": policy,
        "--literal": literal,
        "--defect": defect,
        "--against": against,
        "--price": price,
        "--start": start,
        "--every": every,
    }
    if fleet:
        from .fleet import FleetTraces, simulate_fleet

        _reject(of_binding, "is for the autoscaler of a binding; leave out --fleet")
        traces = FleetTraces(tuple(trace or ()), tuple(share or ()), scale, timeout, seed)
        simulate_fleet(subject, paths, traces, as_json=output is Format.JSON, details=details, plot=plot)
        return
    _reject({"--trace": trace, "--share": share}, "is for all models; add --fleet, or pass --binding and --metrics")
    if not binding or metrics is None:
        missing = "--metrics" if binding else "--binding"
        raise WorkbenchError(f"{missing} is required; to simulate all models, pass --fleet with --trace", 2)
    check_defects(defect)
    step = milliseconds(every)
    if str(metrics) == STDIN and STDIN in map(str, paths or ()):
        raise WorkbenchError("stdin cannot hold both manifests and the trace; write one of them to a file", 2)
    # Namespaces are lower case; kinds begin with a capital letter.
    kind, name = binding.split("/", 1) if "/" in binding and binding[0].isupper() else ("", binding)
    simulator, scenario, plan = _scenario(subject, paths, AutoscalerQuery(name, policy, "", kind))
    defects = select_defects(defect, simulator, literal=literal)
    price_options, start_options = parse_prices(price, scenario), parse_replicas(start, scenario)
    hpas = _hpas(plan, scenario) if against else {}
    recorded = read_metrics(metrics, scenario)
    check_passes(recorded, step)
    prices = {**prices_of(plan.fleet, scenario), **price_options}
    replicas = starting_replicas(scenario, recorded, start_options)
    result = simulated(
        Trial(
            scenario=scenario, trace=recorded, start=replicas, defects=defects, every=step, prices=prices, hpas=hpas
        )
    )
    print_to_stderr(f"note: {note}" for note in _notes(result, every=bool(every)))
    if output is Format.JSON:
        sys.stdout.write(json.dumps(result.as_dict(), indent=2) + "\n")
    else:
        from .report import lines

        write(lines(result, Screen.of(), details=details))
    if plot:
        from .plot import write_plot

        write_plot(result, plot)


def _reject(options: Mapping[str, object], reason: str) -> None:
    for option, value in options.items():
        if value:
            raise WorkbenchError(f"{option} {reason}", 2)


def _scenario(
    subject: Subject, paths: Sequence[Path] | None, query: "AutoscalerQuery"
) -> "tuple[Simulator, Scenario, Plan]":
    """Find the autoscaler to simulate, ignoring errors in the rest of the plan."""
    from components.contract.problems import errors
    from components.families import simulators
    from components.performance.simulation.scenario import ScenarioError, simulator_of

    manifests, plan = planned(subject, paths)
    if invalid := errors(manifests.problems):
        raise WorkbenchError("\n".join(map(str, invalid)))
    query = replace(query, namespace=plan.environment.options.namespace)
    try:
        resources = plan.manifests.resources  # a binding may scale models of other files
        simulator = simulator_of(simulators(), resources, query)
        return simulator, simulator.scenario(resources, query), plan
    except ScenarioError as error:
        raise WorkbenchError(str(error), 2) from None


def _hpas(plan: "Plan", scenario: "Scenario") -> "dict[str, HpaSpec]":
    from components.contract.problems import errors
    from components.performance.simulation.hpa.spec import HpaError
    from components.performance.simulation.rendered import hpas_of

    if fatal := errors(plan.problems):
        raise WorkbenchError("\n".join(map(str, fatal)))
    try:
        return hpas_of(plan.fleet, scenario)
    except HpaError as error:
        raise WorkbenchError(str(error)) from None


def _notes(result: "Simulation", *, every: bool) -> Iterator[str]:
    from components.performance.simulation.trace import INTERVAL

    trial = result.trial
    yield from trial.scenario.notes
    times = [moment.time for moment in result.moments]
    steps = sorted(after - before for before, after in itertools.pairwise(times))
    median = steps[len(steps) // 2] if steps else INTERVAL
    if median != INTERVAL and not every:
        yield (
            f"the trace has a row every {median / 1000:g} s, and each row is one pass; autoscalers run every "
            f"{INTERVAL // 1000} s: pass --every {INTERVAL // 1000} to apply each row until the next one"
        )
    unknown = [target.name for target in trial.scenario.targets if target.name not in (trial.prices or {})]
    if unknown:
        yield f"the price of a replica of {', '.join(unknown)} is unknown; pass --price {unknown[0]}=<USD per hour>"
