"""Virtual time beside the live fleet: both answer the same requests.

``python -m tests.bench.virtual [ROUNDS] [FOLDER]`` takes about six minutes a round; other work on the machine delays
the live fleet. With a folder, rounds are kept there, and rounds of earlier runs are compared again.

A round deploys three autoscaled models, sends each its trace, and records every request and the replicas. How long
requests wait in a burst depends on when the autoscaler's passes happen to be. So virtual time runs with many seeds,
and those whose ready replicas over time are closest to the live fleet's are compared. Chance still decides which
replica a new connection goes to; several rounds together average it out.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from livefleet.load.arrivals import Arrivals, DueRequest, Lengths, Range, planned
from livefleet.load.client import LoadTarget
from livefleet.load.fleet.record import FleetRecord
from livefleet.load.fleet.stack_model import StackModel, stack_model
from livefleet.load.runner import Watched, run
from livefleet.load.summary import Percentiles, spread
from livefleet.virtual.demand import RequestColumns
from livefleet.virtual.run import VirtualOptions, VirtualRun
from livefleet.virtual.scaling import SYNC
from toolkit.private import STATE_DIR

if TYPE_CHECKING:
    from livefleet import VirtualFleet

ROOT = Path(__file__).parents[2]
STACK = "local"
START_SPEED = 60.0
SEEDS, NEAREST = 200, 5
MAX_LAG = 0.02
"""Seconds by which a request may be later than its engine computed it. A second with a later request is left out: its
processes did not get the CPU."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A model with its trace.

    Attributes:
        slots: Requests in a batch.
        metric: What its autoscaler reads, and the target for each replica.
        rates: Seconds and requests per second of each stretch.
    """

    title: str
    source: str
    node: str
    slots: int
    metric: tuple[str, int]
    most: int
    rates: Sequence[tuple[float, float]]
    lengths: Lengths

    @property
    def trace(self) -> list[DueRequest]:
        requests, start = [], 0.0
        for number, (seconds, rate) in enumerate(self.rates):
            drawn = planned(Range(rate, rate), seconds, Arrivals.POISSON, 1, self.lengths, number)
            requests += [DueRequest(start + each.at, each.input_tokens, each.output_tokens) for each in drawn]
            start += seconds
        return requests

    @property
    def seconds(self) -> float:
        return sum(seconds for seconds, _ in self.rates)

    @property
    def manifests(self) -> str:
        metric, target = self.metric
        return f"""\
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {{name: {self.title}}}
spec:
  source: {self.source}
  format: safetensors
  hardware:
    accelerator: cuda
    gpu: {{enabled: true, count: 1, vendor: nvidia}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {{name: {self.title}}}
spec:
  modelRef: {self.title}
  runtime: vllm
  skipModelInit: true
  parallelSlots: {self.slots}
  vllmConfig: {{maxModelLen: 8192}}
  autoscaling:
    minReplicas: 1
    maxReplicas: {self.most}
    metrics:
      - {{type: Pods, name: "{metric}", targetAverageValue: "{target}"}}
  resources: {{cpu: "4", memory: 16Gi}}
  nodeSelector: {{node.kubernetes.io/instance-type: {self.node}}}
  endpoint: {{port: 8000}}
"""


_QUEUE, _RUNNING = "vllm:num_requests_waiting", "vllm:num_requests_running"
_SHORT, _LONG = Lengths(Range(50, 400), Range(50, 250)), Lengths(Range(1500, 3000), Range(40, 160))
MODELS = (
    Compared(
        title="chat",
        source="Qwen/Qwen2-7B-Instruct",
        node="g5.2xlarge",
        slots=24,
        metric=(_QUEUE, 4),
        most=4,
        rates=((60, 0.5), (75, 6), (165, 0.5)),
        lengths=_SHORT,
    ),
    Compared(
        title="phi",
        source="microsoft/Phi-4-mini-instruct",
        node="g6.2xlarge",
        slots=64,
        metric=(_RUNNING, 20),
        most=2,
        rates=((60, 1.5), (80, 9), (160, 1.5)),
        lengths=_SHORT,
    ),
    Compared(
        title="rag",
        source="Qwen/Qwen2-7B-Instruct",
        node="g5.2xlarge",
        slots=24,
        metric=(_QUEUE, 3),
        most=4,
        rates=((60, 0.4), (40, 2.2), (80, 0.4), (40, 2.2), (80, 0.4)),
        lengths=_LONG,
    ),
)


@dataclass(frozen=True, slots=True)
class Answered:
    """A request of the live fleet that was answered. Times are seconds.

    Attributes:
        lag: By how much its first token, or its end, came later than its engine computed them.
    """

    sent: float
    prompt: int
    answer: int
    first: float
    between: float
    took: float
    lag: float


@dataclass(frozen=True, slots=True)
class Round:
    """What one model did in a round.

    Attributes:
        failed: Number of requests without an answer.
        replicas: Replicas and ready replicas in each second.
    """

    answered: tuple[Answered, ...]
    failed: int
    replicas: tuple[tuple[int, int], ...]


_ROUNDS = TypeAdapter(dict[str, Round])


def live_round(project: Path) -> dict[str, Round]:
    """Deploy the models, send their traces, and delete them again.

    Raises:
        RuntimeError: the models do not start with one replica.
    """
    _workbench(project, "up", "--start-cluster", "--start-speed", f"{START_SPEED:g}")
    # So that the passes of the autoscalers are at another time in each round.
    time.sleep(20 + random.random() * 15)
    targets = [stack_model(project, STACK, model.title, door=False) for model in MODELS]
    with ThreadPoolExecutor(len(MODELS)) as executor:
        rounds = dict(zip((model.title for model in MODELS), executor.map(_send, MODELS, targets), strict=True))
    _workbench(project, "destroy", "--yes")
    # The controller forgets what it recommended for a deleted HorizontalPodAutoscaler in its next pass only.
    time.sleep(2 * SYNC)
    if early := sorted(title for title, found in rounds.items() if found.replicas[0] != (1, 1)):
        raise RuntimeError(f"{', '.join(early)}: must start with one ready replica")
    return rounds


def _send(model: Compared, target: StackModel) -> Round:
    record = FleetRecord(target.control, target.titles)
    load = LoadTarget(target.url, target.model, whole=True, simulated=True)
    tally, _ = run(load, model.trace, "", lambda *_: None, Watched(record, 0.0))
    answered = [
        Answered(
            sent=each.sent,
            prompt=each.input_tokens,
            answer=each.output_tokens,
            first=each.first - each.sent,
            between=(each.ended - each.first) / max(each.output_tokens - 1, 1),
            took=each.took,
            lag=max(each.first - each.sent - each.engine.first, each.took - each.engine.took),
        )
        for each in tally.outcomes
        if not each.error and each.first is not None and each.input_tokens is not None and each.engine is not None
    ]
    changes = [(point.seconds, point.replicas, point.ready) for point in record.points]
    return Round(
        tuple(sorted(answered, key=lambda each: each.sent)),
        len(tally.outcomes) - len(answered),
        tuple(_by_second(changes, model.seconds)),
    )


def _by_second(changes: Sequence[tuple[float, int, int]], seconds: float) -> Iterator[tuple[int, int]]:
    place = 0
    for second in range(int(seconds)):
        while place + 1 < len(changes) and changes[place + 1][0] <= second:
            place += 1
        yield changes[place][1:]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One model in one round.

    Attributes:
        left_out: Share of the seconds that are left out, because requests were late.
        live: Times to the first token, between tokens and to the end, of the seconds that are left.
        nearest: The same of the nearest seeds.
        within_one: Share of the seconds in which replicas differ by at most one, of the worst of these seeds.
    """

    requests: int
    failed: int
    left_out: float
    live: tuple[tuple[float, float, float], ...]
    nearest: tuple[tuple[tuple[float, float, float], ...], ...]
    within_one: float

    def deviations(self) -> Iterator[float]:
        """Yield the median of the seeds' deviations, for each time and percentile."""
        yield from _deviations(self.live, self.nearest)


def _deviations(live: Sequence[tuple[float, ...]], others: Iterable[Sequence[tuple[float, ...]]]) -> Iterator[float]:
    ours, theirs = _percentiles(live), [_percentiles(other) for other in others]
    for place, value in enumerate(ours):
        yield median(other[place] / value - 1 for other in theirs)


def _percentiles(times: Sequence[tuple[float, ...]]) -> list[float]:
    def values(found: Percentiles) -> tuple[float, float, float]:
        return found.p50 or 0.0, found.p90 or 0.0, found.p99 or 0.0

    return [value for column in zip(*times, strict=True) for value in values(spread(column))]


def compare(fleet: "VirtualFleet", rounds: Mapping[str, Round]) -> dict[str, Comparison]:
    """Compare a round with virtual time, which gets the requests at the times at which they were sent."""
    demand = {}
    for title, found in rounds.items():
        demand[title] = RequestColumns()
        for each in found.answered:
            demand[title].add(each.sent, each.prompt, each.answer)
    seconds = max(model.seconds for model in MODELS)
    runs = []
    for seed in range(SEEDS):
        runs.append(VirtualRun(fleet, demand, VirtualOptions(seed=seed, start_speed=START_SPEED, seconds=seconds)))
        runs[-1].run()
    return {model.title: _compared(model, rounds[model.title], runs) for model in MODELS}


def _compared(model: Compared, found: Round, runs: Iterable[VirtualRun]) -> Comparison:
    late = {int(each.sent) for each in found.answered if each.lag > MAX_LAG}

    def replicas(simulated: VirtualRun) -> list[tuple[int, int]]:
        (workload,) = (each for each in simulated.workloads.values() if each.facts.served.title == model.title)
        return list(_by_second(workload.changes, model.seconds))

    def distance(simulated: VirtualRun) -> int:
        pairs = zip(replicas(simulated), found.replicas, strict=True)
        return sum(abs(ours[1] - theirs[1]) for ours, theirs in pairs)

    def times(simulated: VirtualRun) -> tuple[tuple[float, float, float], ...]:
        figures = simulated.endpoints[model.title].figures
        rows = zip(figures.sent, figures.first, figures.between, figures.took, strict=True)
        return tuple((first, between, took) for sent, first, between, took in rows if int(sent) not in late)

    def within_one(simulated: VirtualRun) -> float:
        pairs = list(zip(replicas(simulated), found.replicas, strict=True))
        return sum(abs(ours[0] - theirs[0]) <= 1 for ours, theirs in pairs) / len(pairs)

    nearest = sorted(runs, key=distance)[:NEAREST]
    return Comparison(
        requests=len(found.answered) + found.failed,
        failed=found.failed,
        left_out=len(late) / model.seconds,
        live=tuple((each.first, each.between, each.took) for each in found.answered if int(each.sent) not in late),
        nearest=tuple(times(simulated) for simulated in nearest),
        within_one=min(map(within_one, nearest)),
    )


def table(comparisons: Sequence[Mapping[str, Comparison]]) -> str:
    """Return a row for each model and round, and one for each model over all rounds."""
    lines = [
        "| model | round | requests | failed | seconds left out | TTFT p50, p90, p99 | ITL p50, p90, p99 "
        "| end p50, p90, p99 | seconds with replicas within one |",
        "|---|---|---|---|---|---|---|---|---|",
    ]

    def row(title: str, name: str, rounds: Sequence[Comparison], deviations: Iterable[float]) -> str:
        percent = [f"{100 * each:+.0f}" for each in deviations]
        groups = [", ".join(percent[start : start + 3]) + " %" for start in (0, 3, 6)]
        cells = (
            title,
            name,
            f"{sum(each.requests for each in rounds):,}",
            str(sum(each.failed for each in rounds)),
            f"{100 * sum(each.left_out for each in rounds) / len(rounds):.0f} %",
            *groups,
            f"{100 * min(each.within_one for each in rounds):.1f} %",
        )
        return f"| {' | '.join(cells)} |"

    for model in MODELS:
        rounds = [comparison[model.title] for comparison in comparisons]
        lines += [row(model.title, str(number), [each], each.deviations()) for number, each in enumerate(rounds, 1)]
        live = [times for each in rounds for times in each.live]
        simulated = [times for each in rounds for seed in each.nearest for times in seed]
        lines.append(row(model.title, "all", rounds, _deviations(live, [simulated])))
    return "\n".join(lines)


def _workbench(project: Path, command: str, *options: str) -> None:
    words = [sys.executable, "-m", "workbench", command, *options, "--stack", STACK, "--cwd", str(project)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command} failed ({done.returncode}):\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def _write_project(folder: Path) -> Path:
    words = ["init", str(folder), "--cluster", "existing", "--family", "llmkube", "--no-gateway", "--ci", "none"]
    subprocess.run([sys.executable, "-m", "workbench", *words], cwd=ROOT, capture_output=True, check=True)
    for file in (folder / "models").iterdir():
        file.unlink()
    (folder / "models" / "models.yaml").write_text("---\n".join(model.manifests for model in MODELS))
    return folder


def _fleet(project: Path) -> "VirtualFleet":
    from workbench.simulation.fleet import read_virtual_fleet
    from workbench.subject import Subject

    return read_virtual_fleet(Subject(stack=STACK, folder=project), None)


def main(count: int, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        project = _write_project(Path(scratch) / "agreement")
        try:
            first = len(list(folder.glob("*.json")))
            for number in range(first, first + count):
                (folder / f"{number:03}.json").write_bytes(_ROUNDS.dump_json(live_round(project)))
        finally:
            stop = ["cluster", "stop", "--state-dir", str(project / STATE_DIR)]
            subprocess.run([sys.executable, "-m", "workbench", *stop], cwd=ROOT, capture_output=True, check=True)
        fleet = _fleet(project)
        rounds = [_ROUNDS.validate_json(file.read_bytes()) for file in sorted(folder.glob("*.json"))]
        print(table([compare(fleet, each) for each in rounds]))  # noqa: T201


if __name__ == "__main__":
    arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as kept:
        main(int(arguments[0]) if arguments else 3, Path(arguments[1]) if len(arguments) > 1 else Path(kept))
