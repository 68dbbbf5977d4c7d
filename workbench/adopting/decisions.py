"""Decides what each live object becomes: a typed resource, a manifest applied as it is, or nothing.

The core is pure: the decisions are a function of a snapshot and the settings of the project. Every decision is
checked by planning the project that would be written: what the plan creates must exist, and be a part of the live
object.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from components.contract.findings.annotations import PREFIX
from components.contract.findings.ids import FINAL, RuleId
from components.contract.problems import Problem, Severity, errors
from components.contract.texts.outputs import file_name
from components.contract.texts.secrets import secret_texts
from components.families import member_of, objects
from components.fleet.objects import Object
from components.plan.namespaces import namespace_objects
from components.plan.overridden_variables import without_overridden
from components.plan.plan import Plan, plan
from components.plan.running_objects import malformed
from stacks.adopting import adopted_name

from ..inspecting.snapshot import ClusterSnapshot, Identity, group_of, identity_of
from .candidates import AdoptableObject, candidates, pod_templates, title_of
from .converting import conversion_of
from .declared import controllers_of, declared, difference_text, missing_parts
from .settings import environment_of

Wanted = tuple[str, str, str, str]
"""API version, kind, namespace and name of an object that a plan creates."""
_MOST_DIFFERENCES = 5
_RUNS_ALREADY = "ran so before it was adopted"


class Becomes(enum.StrEnum):
    """What an object becomes in the project."""

    TYPED = "typed"
    """A resource of a family, which is checked and sized like all others."""
    VERBATIM = "verbatim"
    """A manifest that is applied as it is (otherKinds: apply)."""
    LEFT = "left"
    """Nothing: the object stays as it is, outside of the project."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What an object becomes.

    Attributes:
        manifest: What is written; None if the object is left alone.
        reason: Why it becomes that.
        differences: What would change if it became a typed resource.
        restarts: Number of pods that this change would restart.
        findings: Errors of the resource as it runs, which its manifest ignores, each with its reason.
        referred: Further manifests, to which the first refers.
        owned: Whether a controller created the object, which is managed through its owner.
    """

    candidate: AdoptableObject
    becomes: Becomes
    manifest: Object | None = None
    reason: str = ""
    differences: tuple[str, ...] = ()
    restarts: int = 0
    owned: bool = False
    findings: tuple[str, ...] = ()
    referred: tuple[Object, ...] = ()

    @property
    def documents(self) -> tuple[Object, ...]:
        """All manifests to write, those that others refer to first."""
        return (*self.referred, self.manifest) if self.manifest else ()

    @property
    def file(self) -> str:
        """Path of the manifest, relative to the folder of models."""
        namespace = self.candidate.live["metadata"].get("namespace") or "cluster"
        return f"{file_name(namespace)}/{file_name(self.candidate.anchor)}.yaml"


@dataclass(frozen=True, slots=True)
class Adoption:
    """What becomes of everything that serves models.

    Attributes:
        decisions: One for each object, sorted by identity.
        imports: Names of the objects that the stack imports, as in the setting ``adopted.objects``.
        omitted: Names of the objects that the plan adds to what runs, and that the stack leaves out.
        unknown: Objects that the plan creates and that are not in the snapshot: they must be looked up first.
        problems: Errors of the settings, which no decision avoids.
        warnings: What a reader of the report and of the written manifests does not see in them.
    """

    decisions: tuple[Decision, ...]
    imports: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    unknown: frozenset[Wanted] = frozenset()
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    warnings: tuple[Problem, ...] = field(default=(), compare=False)

    def having(self, becomes: Becomes) -> list[Decision]:
        """Return the decisions of one kind, without what controllers created."""
        return [decision for decision in self.decisions if decision.becomes is becomes and not decision.owned]


def decide(
    snapshot: ClusterSnapshot,
    values: Mapping[str, Any],
    absent: Iterable[Wanted] = (),
    family: str = "",
    *,
    rendered: bool = False,
) -> Adoption:
    """Decide what each object of a snapshot becomes.

    Args:
        snapshot: The live objects.
        values: Settings of the stack, by key.
        absent: Objects, each with its API version, that were looked up and do not exist.
        family: The family that plain workloads become resources of, where that restarts no pod; empty for none.
        rendered: Whether the objects were rendered, instead of read from a cluster.
    """
    first = [_first_decision(candidate, family) for candidate in candidates(snapshot, rendered=rendered)]
    decisions = {decision.candidate.identity: decision for decision in first}
    while True:
        written = [body for decision in decisions.values() for body in decision.documents]
        planned = plan(objects(written, "adopted", values.get("releases") or {}), environment_of(values))
        missing = (body for body in planned_objects(planned) if snapshot.find(*identity_of(body)) is None)
        wanted = {(body["apiVersion"], *identity_of(body)[1:]) for body in missing}
        unknown = frozenset(wanted.difference(absent))
        rejected = _rejected(planned, decisions, snapshot) if not unknown else {}
        if not rejected:
            break
        decisions |= rejected
    ordered = tuple(decisions[identity] for identity in sorted(decisions))
    foreign = tuple(problem for problem in errors(planned.problems) if not _decision_of(problem, decisions))
    names = {identity_of(body): adopted_name(body) for body in planned_objects(planned)}
    gone = {(group_of({"apiVersion": api_version}), *rest) for api_version, *rest in absent}
    omitted = tuple(sorted(name for identity, name in names.items() if identity in gone))
    imports = tuple(sorted(name for identity, name in names.items() if identity not in gone))
    # The other warnings are about what runs already; `inspect` and `plan` list them. A manifest that ignores errors
    # of the rule ignores its warnings too.
    warnings = tuple(
        problem
        for problem in (*planned.problems, *(entry.problem for entry in planned.ignored))
        if problem.rule == RuleId.CHARACTER_UNSEEN and problem.severity is Severity.WARNING
    )
    return Adoption(
        decisions=ordered, imports=imports, omitted=omitted, unknown=unknown, problems=foreign, warnings=warnings
    )


def _first_decision(candidate: AdoptableObject, family: str) -> Decision:
    """Return the decision that follows from the object alone."""
    if candidate.owner:
        return Decision(candidate, Becomes.LEFT, reason=f"created by {candidate.owner}, which manages it", owned=True)
    body = declared(candidate.live, scaled=candidate.scaled)
    note = ""
    if "uid" not in candidate.live["metadata"]:
        # Of a live object, removing a variable would restart the pods.
        body, overridden = without_overridden(body, "")
        note = "".join(
            f"; without {variable.path}, which {variable.reason.partition(';')[0]}" for variable in overridden
        )
    problems = malformed(body, "")
    if not body.keys() >= candidate.live.keys() - {"status"} or (problems and not malformed(candidate.live, "")):
        owners = ", ".join(controllers_of(candidate.live))
        reason = f"written by {owners}, which would set it again: change what it reads, or end it first"
        return Decision(candidate, Becomes.LEFT, reason=reason)
    if problems:
        # Server-side apply refuses it too, although a client that creates or updates it does not.
        return Decision(
            candidate, Becomes.LEFT, reason=f"cannot be applied: {problems[0].path}: {problems[0].reason}"
        )
    secrets = secret_texts(body)
    if secrets:
        reason = "contains a value that looks like a secret, which must not be written to a file; move it to a Secret"
        return Decision(candidate, Becomes.LEFT, reason=reason)
    if candidate.is_part:
        return Decision(candidate, Becomes.VERBATIM, body, f"rendered together with the models{note}")
    if family and pod_templates(body):
        return _converted(candidate, body, family)
    if candidate.kind:
        return Decision(candidate, Becomes.TYPED, body, f"a kind of {member_of(candidate.kind)[0].name}{note}")
    return Decision(candidate, Becomes.VERBATIM, body, f"a kind of no family{note}")


def _converted(candidate: AdoptableObject, body: Object, family: str) -> Decision:
    """Return the decision about a workload that should become a resource of a family."""
    conversion = conversion_of(body, family)
    if conversion.documents and not conversion.differences:
        *before, manifest = conversion.documents
        reason = f"{family} renders the same selector and pods"
        return Decision(candidate, Becomes.TYPED, manifest, reason, referred=tuple(before))
    kept = Becomes.TYPED if candidate.kind else Becomes.VERBATIM
    reason = f"{family} would render it otherwise"
    lines = _limited(conversion.differences)
    return Decision(candidate, kept, body, reason, differences=lines, restarts=_pods(candidate.live))


# Checking the decisions by the plan that follows from them


def planned_objects(planned: Plan) -> list[Object]:
    """Return all objects that a plan creates."""
    others = (body for body in planned.others if body["kind"] != "Namespace")
    return [*namespace_objects(planned).values(), *planned.objects, *others]


def _rejected(
    planned: Plan, decisions: Mapping[Identity, Decision], snapshot: ClusterSnapshot
) -> dict[Identity, Decision]:
    """Return the decisions that must change: of invalid resources, and of those that are rendered otherwise."""
    rejected: dict[Identity, Decision] = {}
    for problem in errors(planned.problems):
        decision = _decision_of(problem, decisions)
        if decision and decision.becomes is not Becomes.LEFT:
            identity = decision.candidate.identity
            reason = f"{problem.path}: {problem.reason}" if problem.path else problem.reason
            if problem.rule in FINAL or decision.manifest is None:
                rejected[identity] = _left(decision, f"its manifest is refused: {reason}")
            elif (current := rejected.get(identity, decision)).manifest:
                rejected[identity] = _ignoring(current, problem.rule, f"{reason} [{problem.rule}]")
    if rejected:
        return rejected
    for item in planned.fleet.rendered:
        kind, source = item.source.kind, item.source
        group = kind.api_version.rpartition("/")[0]
        namespace = (source.resource.metadata.namespace or "") if kind.namespaced else ""
        decision = decisions.get((group, kind.kind, namespace, source.name))
        if decision is None:
            continue
        lines = differences((*item.objects, *item.shared), snapshot)
        if lines:
            restarts = sum(_pods(body) for body in item.objects)
            left = _left(decision, "what the project creates for it differs from what runs")
            rejected[decision.candidate.identity] = replace(left, differences=lines, restarts=restarts)
    return rejected


def _ignoring(decision: Decision, rule: RuleId, finding: str) -> Decision:
    """Return the decision with a manifest that ignores a rule: the resource runs in spite of the finding.

    The annotation is not applied to the object.
    """
    manifest = dict(decision.manifest or {})
    annotations = {**(manifest["metadata"].get("annotations") or {}), f"{PREFIX}{rule}": _RUNS_ALREADY}
    manifest["metadata"] = {**manifest["metadata"], "annotations": annotations}
    return replace(decision, manifest=manifest, findings=(*decision.findings, finding))


def _left(decision: Decision, reason: str) -> Decision:
    return replace(decision, becomes=Becomes.LEFT, manifest=None, reason=reason)


def _decision_of(problem: Problem, decisions: Mapping[Identity, Decision]) -> Decision | None:
    for (_, kind, namespace, name), decision in decisions.items():
        if (problem.kind, problem.name) == (kind, name) and problem.namespace in ("", namespace):
            return decision
    return None


def differences(created: Sequence[Object], snapshot: ClusterSnapshot) -> tuple[str, ...]:
    """Return how objects that the plan creates differ from those that run, without those that do not exist."""
    lines: list[str] = []
    for body in created:
        identity = identity_of(body)
        live = snapshot.find(*identity)
        if live is None:
            continue  # left out
        rest = {key: value for key, value in body.items() if key != "apiVersion"}
        lines += [
            f"{title_of(identity)}: {difference_text(path, before, after, kind=body['kind'])}"
            for path, after, before in missing_parts(rest, live)
        ]
    return _limited(lines)


def _limited(lines: Sequence[str]) -> tuple[str, ...]:
    further = len(lines) - _MOST_DIFFERENCES
    return (*lines[:_MOST_DIFFERENCES], *([f"and {further} more differences"] if further > 0 else []))


def _pods(body: Object) -> int:
    """Return the number of pods of a workload."""
    if not pod_templates(body):
        return 0
    spec = body["spec"]
    return int(spec.get("replicas", 1)) * int((spec.get("leaderWorkerTemplate") or {}).get("size", 1))
