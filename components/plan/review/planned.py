"""Converts a plan into the plain data of a snapshot."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

from ...checks.memory.cases import MemoryVerdict
from ...contract.problems import Problem
from ...contract.texts.printable import printable
from ...contract.texts.secrets import masked
from ...fleet.demand import NodeChoice
from ...fleet.instances import instance, is_accelerator
from ...fleet.nodes.groups import lands_on
from ...fleet.nodes.policy import NodePolicy
from ...fleet.objects import Key
from ...fleet.rendered import Rendered, ServingIndex
from ...fleet.workloads import Workload
from ..costs.bill import Bill
from ..costs.replicas import minimums, replicas_of
from ..plan import Plan
from ..starts.planned import title_of
from .snapshot import FindingState, ManifestState, NodeGroupState, ServedModel, Snapshot, WorkloadState


def snapshot_of(planned: Plan, stack: str, bill: Bill) -> Snapshot:
    """Return the snapshot of a plan, without the resources that a program registers.

    Args:
        planned: The plan.
        stack: Name of the environment.
        bill: Its costs.
    """
    workloads = workloads_of(planned)
    return Snapshot(
        stack,
        models=models_of(planned, workloads),
        workloads=workloads,
        simulated=planned.environment.simulated,
        groups=groups_of(planned),
        findings=findings_of([*planned.problems, *(entry.problem for entry in planned.ignored)]),
        bill=bill,
        manifests=manifests_of(planned),
        releases=dict(sorted(planned.environment.options.releases.items())),
        file=planned.environment.file,
        ignore=dict(sorted(planned.environment.ignore.items())),
        given=planned.environment.given,
    )


def models_of(planned: Plan, workloads: Sequence[WorkloadState]) -> tuple[ServedModel, ...]:
    """Return the resources that serve models.

    Args:
        planned: The plan.
        workloads: The workloads of the plan.
    """
    served = [item for item in planned.fleet.rendered if item.workloads or item.endpoints]
    states = iter(workloads)  # in the order of the resources
    index = ServingIndex(planned.fleet)
    judged = {name: result.verdict for result in planned.verdicts for name in result.names}
    return tuple(
        _model(item, index.of_resource(item), list(itertools.islice(states, len(item.workloads))), judged)
        for item in served
    )


def _model(
    item: Rendered, workloads: Sequence[Workload], own: Sequence[WorkloadState], judged: Mapping[str, MemoryVerdict]
) -> ServedModel:
    return ServedModel(
        title=item.title,
        namespace=item.namespace,
        model=item.model or next((workload.model for workload in workloads), item.name),
        file=printable(item.source.file),
        workloads=tuple(title_of(workload) for workload in workloads),
        replicas=_sums(state.replicas for state in own),
        accelerators=_sums(tuple(number * state.accelerators for number in state.replicas) for state in own),
        groups=tuple(dict.fromkeys(state.group for state in own if state.group)),
        verdicts={state.title: judged[state.title] for state in own if state.title in judged},
    )


def _sums(rows: Iterable[tuple[int, ...]]) -> tuple[int, int, int]:
    now, least, most = (sum(column) for column in zip((0, 0, 0), *rows, strict=True))
    return now, least, most


def workloads_of(planned: Plan) -> tuple[WorkloadState, ...]:
    """Return the workloads of a plan, in its order."""
    least = minimums(planned.fleet)
    return tuple(_state(item, workload, planned, least) for item, workload in planned.fleet.workloads)


def _state(item: Rendered, workload: Workload, planned: Plan, least: Mapping[Key, int]) -> WorkloadState:
    counts = replicas_of(workload, least)
    demand = next((demand for demand in workload.pods if demand.choices), None)
    names = _taking(demand.choices, planned) if demand else []
    # If the first choice has no node group, the placement of the pods is unknown.
    group = next(iter(_taking(demand.choices[:1], planned)), "") if demand else ""
    return WorkloadState(
        title=title_of(workload),
        served=item.title,
        namespace=item.namespace,
        body=masked(workload.body),
        replicas=(counts.now, counts.least, counts.most),
        pods=workload.size,
        accelerators=sum(
            demand.per_replica * int(sum(amount for key, amount in demand.requests.items() if is_accelerator(key)))
            for demand in workload.pods
        ),
        group=group,
        role=workload.role,
        operated=workload.operated,
        fallbacks=tuple(dict.fromkeys(name for name in names if name != group)),
        unit=workload.unit,
        start=planned.starts.get(title_of(workload)),
        evicted_at_once=_evicted_at_once(item, workload),
    )


def _evicted_at_once(item: Rendered, workload: Workload) -> int | None:
    """Return the limit of the disruption budget that is rendered with a workload; None without one."""
    for body in item.others:
        if body["kind"] == "PodDisruptionBudget" and body["spec"]["selector"]["matchLabels"] == workload.evicted:
            return int(body["spec"]["maxUnavailable"])
    return None


def node_sources(planned: Plan) -> dict[tuple[str, str], dict[str, int]]:
    """Return the resources that nodes come from, as the nodes of each group that disappear with it.

    They are known by their type and their logical name, without that of their component.
    """
    found: dict[tuple[str, str], dict[str, int]] = {}
    for group in planned.cloud_groups:
        for source in group.sources:
            found.setdefault((source.type, source.name), {})[group.name] = source.nodes
    return found


def _taking(choices: Sequence[NodeChoice], planned: Plan) -> list[str]:
    """Return the node groups that a pod may run on, those of its first choices first."""
    cloud = planned.environment.cloud
    policy = (cloud.node_policy if cloud else None) or NodePolicy()
    return [
        group.name
        for choice in choices
        for group in planned.groups
        if group.instance_type == choice.instance_type and lands_on(choice, group.labels, group.capacity, policy)
    ]


def manifests_of(planned: Plan) -> tuple[ManifestState, ...]:
    """Return the manifests of a plan, with secrets masked."""
    usual = planned.environment.options.namespace
    return tuple(
        ManifestState(
            kind=manifest.resource.kind,
            namespace=(manifest.resource.metadata.namespace or usual) if manifest.kind.namespaced else "",
            name=manifest.name,
            body=masked(manifest.resource.wire()),
        )
        for manifest in planned.manifests.resources
    )


def groups_of(planned: Plan) -> tuple[NodeGroupState, ...]:
    """Return the nodes that the models need."""
    states = []
    clouds = {group.name: group for group in planned.cloud_groups}
    for group in planned.groups:
        own, described = clouds.get(group.name), planned.environment.types.get(group.instance_type)
        facts = described or instance(group.instance_type)
        states.append(
            NodeGroupState(
                name=group.name,
                instance_type=group.instance_type,
                capacity=group.capacity,
                nodes=group.nodes,
                max_nodes=own.maximum if own else group.max_nodes,
                accelerators=facts.accelerators if facts else 0,
                made_by="cloud" if own else "simulated" if planned.environment.simulated else "",
                identity=own.id if own else "",
                labels=dict(own.node_labels) if own else {},
                replacement=own.replacement if own else None,
                described=described,
            )
        )
    return tuple(states)


def findings_of(problems: Iterable[Problem]) -> tuple[FindingState, ...]:
    """Return the findings without duplicates, in the order of files and lines."""
    ordered = sorted(set(problems), key=lambda problem: (problem.sort_key, problem.kind, problem.name))
    return tuple(_finding(problem) for problem in ordered)


def _finding(problem: Problem) -> FindingState:
    values = problem.as_dict()
    return FindingState(
        rule=str(problem.rule),
        severity=str(problem.severity),
        file=str(values["file"]),
        line=problem.line,
        kind=str(values["kind"]),
        name=str(values["name"]),
        path=str(values["path"]),
        reason=str(values["reason"]),
        ignored=problem.ignored,
    )
