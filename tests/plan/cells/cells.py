"""A server on instances of one type, as a manifest, and what a plan says of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from components.checks.memory.cases import Fit
from components.contract.documents.writer import dump_all
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.families import parse
from components.plan.plan import plan

REPOSITORIES = {"vllm": "vllm/vllm-openai", "sglang": "lmsysorg/sglang"}
_COMMANDS = {"vllm": ("vllm", "serve"), "sglang": ("python3", "-m", "sglang.launch_server", "--model-path")}


class Outcome(StrEnum):
    """What a plan says of a server."""

    REFUSED = "refused"
    """An error, or a finding that the engine does not start."""
    TIGHT = "tight"
    UNCHECKED = "unchecked"
    """No error, and no verdict on memory."""
    FITS = "fits"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A server.

    Attributes:
        version: Of the engine.
        gpus: GPUs of a pod.
        nodes: Pods of a replica.
        args: Arguments after the command and the model.
        image_args: All arguments of the image, which are not preceded by a command; empty for a whole command.
    """

    model: str
    engine: str
    version: str
    instance: str
    gpus: int = 1
    nodes: int = 1
    args: Sequence[str] = ()
    image_args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)

    def manifest(self, name: str) -> dict[str, Any]:
        """Return the server as a LeaderWorkerSet, whose pods are written by hand in every detail."""
        container: dict[str, Any] = {
            "name": "server",
            "image": f"{REPOSITORIES[self.engine]}:v{self.version}",
            "env": [{"name": key, "value": value} for key, value in self.env.items()],
            "args": list(self.image_args),
            "resources": {"limits": {"nvidia.com/gpu": self.gpus}},
        }
        if not self.image_args:
            container["command"] = [*_COMMANDS[self.engine], self.model]
            container["args"] = list(self.args)
        pod = {"nodeSelector": {"node.kubernetes.io/instance-type": self.instance}, "containers": [container]}
        template = {"size": self.nodes, "workerTemplate": {"spec": pod}}
        return {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": name},
            "spec": {"replicas": 1, "leaderWorkerTemplate": template},
        }


@dataclass(frozen=True)
class Judged:
    """What a plan says of a cell.

    Attributes:
        reasons: Why it is refused; of a server without a verdict on memory, why there is none.
        rules: Rules of the findings behind it.
        memory: The verdict on memory.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    rules: frozenset[RuleId]
    memory: Fit


def judged(cells: Sequence[Cell]) -> list[Judged]:
    """Plan all cells together, as an environment with that many models."""
    names = [f"c{index}" for index in range(len(cells))]
    planned = plan(parse(dump_all([cell.manifest(name) for cell, name in zip(cells, names, strict=True)])))
    refusals: dict[str, list[Problem]] = {name: [] for name in names}
    for problem in planned.problems:
        if problem.severity is Severity.ERROR or problem.rule == RuleId.CONTEXT_TOO_LONG:
            refusals[problem.name].append(problem)
    verdicts = {verdict.item.source.name: verdict.verdict for verdict in planned.verdicts}
    return [_judged(refusals[name], verdicts[name].fit, verdicts[name].reason) for name in names]


def _judged(refusals: Iterable[Problem], fit: Fit, reason: str) -> Judged:
    found = list(refusals)
    rules = frozenset(problem.rule for problem in found)
    if found:
        return Judged(Outcome.REFUSED, tuple(problem.reason for problem in found), rules, fit)
    outcome = {Fit.FITS: Outcome.FITS, Fit.TIGHT: Outcome.TIGHT, Fit.UNKNOWN: Outcome.UNCHECKED}[fit]
    return Judged(outcome, (reason,), rules, fit)
