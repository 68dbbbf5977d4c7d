"""Deleting resources level by level, dependents first; each level is awaited."""

import time
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from toolkit.kube import KubeError

from ...errors import WorkbenchError
from ..plan import ChangePlan, Op, Step
from ..planning.removals import former_by_urn, needs_of
from ..state import Intent, State
from ..targets import Target, Targets, identity, live_uids
from . import objects
from .execute import Failure, Progress, Result
from .objects import await_gone, delete_object, foreign, look_up, mounting_pods

_LATE = ("CustomResourceDefinition", "Namespace", "Node")
"""Deleted last, because other objects live in or on them."""
_SECONDS = 180.0


@dataclass(slots=True)
class Remover:
    """Deletes the resources of a plan."""

    state: State
    targets: Targets
    progress: Progress = lambda _: None
    workers: int = 8
    result: Result = field(default_factory=Result)

    def delete(self, plan: ChangePlan) -> Result:
        """Delete all levels; after a failure, keep the levels that may still be needed."""
        forgotten = plan.having(Op.FORGET)
        self.state.forget(step.urn for step in forgotten)
        self.result.done += forgotten
        steps = {step.urn: step for step in plan.having(Op.DELETE, Op.DISCARD)}
        for level in levels(steps):
            if self.result.failures:
                self._skip(level)
            else:
                self._level(level, steps.keys())
        return self.result

    def _skip(self, steps: Iterable[Step]) -> None:
        message = "kept: a resource that may depend on it could not be deleted"
        self.result.failures += [Failure(step.urn, message, skipped=True) for step in steps]

    def _level(self, steps: list[Step], all_steps: Collection[str]) -> None:
        virtual = [step for step in steps if not step.is_object]
        objects = [step for step in steps if step.is_object]
        self.state.write([replace(step.row, intent=Intent.DELETING) for step in objects if step.row])
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                requested = pool.map(lambda step: self._request(step, all_steps), objects)
                lingering = [step for step, lingers in zip(objects, requested, strict=True) if lingers]
            except BaseException:
                pool.shutdown(cancel_futures=True)  # finish running requests, and start no others
                raise
        failed = {failure.urn for failure in self.result.failures}
        stuck = self._await(lingering)
        gone = [step for step in objects if step.urn not in failed and step.urn not in stuck]
        self.state.forget(step.urn for step in (*gone, *virtual))
        self.result.done += [*gone, *virtual]
        for step in gone:
            self.progress(step)

    def _request(self, step: Step, urns: Collection[str]) -> bool:
        """Request one deletion; return whether it must be awaited."""
        row = step.row
        if row is None or row.inputs is None or row.deleted_with in urns:
            return False
        try:
            target = self.targets.by_cluster(row.cluster) or self.targets.connect(row.provider)
            if row.uid:
                return delete_object(target.kube, row.inputs, row.uid)
            if (live := look_up(target.kube, row.inputs)) and foreign(live):
                step.op = Op.FORGET  # it existed before the interrupted step
            elif live:
                uid = target.kube.uid_of(live, row.inputs["kind"])
                if delete_object(target.kube, row.inputs, uid):
                    await_gone(target.kube, row.inputs, _SECONDS, uid)
        except KubeError as error:
            if error.unreachable:
                raise
            self.result.failures.append(Failure(step.urn, f"{error.reason}: {error.message}", error.causes))
        except WorkbenchError as error:
            self.result.failures.append(Failure(step.urn, str(error)))
        return False

    def _await(self, steps: list[Step]) -> set[str]:
        """Wait until objects with finalizers are gone; return the URNs of those that remain."""
        waiting = {step.urn: step for step in steps}
        deadline = time.monotonic() + _SECONDS
        while waiting and time.monotonic() < deadline:
            for target, kinds in _kinds(self.targets, waiting.values()):
                alive = live_uids(target, sorted(kinds))
                for urn, step in list(waiting.items()):
                    row = step.row
                    if row and row.inputs and row.cluster == target.uid:
                        left = alive.get(identity(row.inputs)[:2], {})
                        if row.uid not in left:
                            del waiting[urn]
            if waiting:
                time.sleep(objects.PAUSE)
        self.result.failures += [Failure(urn, self._stuck(step)) for urn, step in waiting.items()]
        return set(waiting)

    def _stuck(self, step: Step) -> str:
        message = f"still exists after {_SECONDS:.0f} s: a finalizer blocks it, or no controller manager is running"
        target = self.targets.by_cluster(step.cluster)
        pods = mounting_pods(target.kube, step.row.inputs) if target and step.row and step.row.inputs else []
        if not pods:
            return message
        names = ", ".join(pod["metadata"]["name"] for pod in pods[:3])
        return f"still exists after {_SECONDS:.0f} s: mounted by pod {names}; it is deleted when they terminate"


def _kinds(targets: Targets, steps: Iterable[Step]) -> list[tuple[Target, set[tuple[str, str]]]]:
    kinds: dict[str, set[tuple[str, str]]] = {}
    for step in steps:
        if step.row and step.row.inputs:
            kinds.setdefault(step.row.cluster, set()).add(identity(step.row.inputs)[:2])
    by_target = [(targets.by_cluster(uid), cluster_kinds) for uid, cluster_kinds in kinds.items()]
    return [(target, cluster_kinds) for target, cluster_kinds in by_target if target]


def levels(steps: Mapping[str, Step]) -> list[list[Step]]:
    """Group steps, which are ordered dependents first: a level can be deleted once all levels before it are gone."""
    depth = dict.fromkeys(steps, 0)
    _deepen(steps, depth)
    bottom = max((depth[urn] for urn, step in steps.items() if not _late(step)), default=-1)
    for urn, step in steps.items():
        if _late(step):
            depth[urn] = max(depth[urn], bottom + 1)
    _deepen(steps, depth)
    grouped: dict[int, list[Step]] = {}
    for urn, step in steps.items():
        grouped.setdefault(depth[urn], []).append(step)
    return [grouped[level] for level in sorted(grouped)]


def _deepen(steps: Mapping[str, Step], depth: dict[str, int]) -> None:
    """Move the dependencies of each step to a deeper level; they come later in ``steps``."""
    former = former_by_urn(step.row for step in steps.values())
    for urn, step in steps.items():
        for need in needs_of(step.row, former) if step.row else ():
            if need in depth and need != urn:
                depth[need] = max(depth[need], depth[urn] + 1)


def _late(step: Step) -> bool:
    return bool(step.row and step.row.inputs and step.row.inputs.get("kind") in _LATE)
