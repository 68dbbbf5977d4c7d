"""Models of the controllers that replace pods: what happens while replicas and template of a workload change.

Each model repeats the decisions of one controller until it waits for pods, lets the pods that have room become ready,
and goes on: one wave. The tests in ``tests/cluster/rollouts`` compare them with the controllers. Sources:

- Deployments: kubernetes/kubernetes v1.36.3, pkg/controller/deployment/rolling.go, sync.go, and
  util/deployment_util.go (``NewRSNewReplicas``, ``ResolveFenceposts``); the same since 1.30.
- StatefulSets: pkg/controller/statefulset/stateful_set_control.go (``updateStatefulSet``). ``maxUnavailable`` has no
  effect: its feature ``MaxUnavailableStatefulSet`` is off by default in every release up to 1.36
  (pkg/features/kube_features.go), and the API server then drops the field.
- LeaderWorkerSets: kubernetes-sigs/lws v0.9.0 and v0.10.0, pkg/controllers/leaderworkerset_controller.go
  (``rollingUpdateParameters``). Their leaders are a StatefulSet, so that groups are replaced one at a time. What both
  releases do to replicas is the same: v0.10.0 adds the metadata of the LeaderWorkerSet to its StatefulSets.

``minReadySeconds`` and ``progressDeadlineSeconds`` change neither the steps nor their number: a controller waits
longer between two steps, and a Deployment whose deadline passes goes on (``syncRolloutStatus`` sets a condition).
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateChange:
    """A new pod template, with perhaps another number of replicas.

    Attributes:
        before: Replicas before, all ready.
        after: Replicas after.
        surge: Replicas that may exist beyond ``after``.
        unavailable: Replicas that may be missing.
        partition: Index of the first replica that is replaced.
        held: The partition before the change.
        is_scaling: Whether the template stays as it is.
        recreates: Whether all pods end before new ones start.
        keeps: Whether pods keep their template until they are deleted by hand, or the update is resumed.
        ordered: Whether a replica starts only after the previous one is ready.
        room: Replicas that have room at the same time; None if all have.
    """

    before: int
    after: int
    surge: int = 0
    unavailable: int = 1
    partition: int = 0
    held: int = 0
    is_scaling: bool = False
    recreates: bool = False
    keeps: bool = False
    ordered: bool = False
    room: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The course of a change.

    Attributes:
        restarted: Replicas that are replaced.
        short: Most replicas that are missing at once, of those that exist before and after.
        extra: Most replicas beyond those before and after.
        waves: Times that replicas start, one after the other.
        stuck: Whether it never ends, because a new replica finds no room.
        left: Replicas beyond ``after`` that stay.
    """

    restarted: int
    short: int
    extra: int
    waves: int
    stuck: bool = False
    left: int = 0


Controller = Callable[[TemplateChange], Course]
_LARGEST = 200
"""Replicas up to which every step is repeated."""


@dataclass(slots=True, eq=False)
class _Replica:
    index: int
    is_new: bool
    is_ready: bool = False
    has_room: bool = False


@dataclass(slots=True)
class _Rollout:
    """The replicas in the order of their creation."""

    change: TemplateChange
    first: tuple[_Replica, ...] = ()
    """Those before the change."""
    replicas: list[_Replica] = field(default_factory=list)

    @classmethod
    def of(cls, change: TemplateChange) -> "_Rollout":
        running = [
            _Replica(index, is_new=change.is_scaling, is_ready=True, has_room=True) for index in range(change.before)
        ]
        return cls(change, tuple(running), running)

    @property
    def ready(self) -> int:
        return sum(replica.is_ready for replica in self.replicas)

    def at(self, index: int) -> _Replica | None:
        return next((replica for replica in self.replicas if replica.index == index), None)

    def create(self, index: int, *, is_new: bool) -> None:
        self.replicas.append(_Replica(index, is_new or self.change.is_scaling))

    def is_done(self, count: int) -> bool:
        """Whether the replicas up to a number are ready, and have the new template from the partition on."""
        kept = [replica for replica in self.replicas if replica.index < count]
        wanted = 0 if self.change.keeps else count - self.change.partition
        return (
            len(kept) == count
            and all(replica.is_ready for replica in kept)
            and (sum(replica.is_new for replica in kept) >= wanted)
        )


def _course(state: _Rollout, settle: Callable[[], None], is_done: Callable[[], bool]) -> Course:
    """Alternate between a controller and pods that become ready.

    Args:
        state: The replicas.
        settle: Lets the controller act until it waits.
        is_done: Whether the change is complete.
    """
    change = state.change
    common, most = min(change.before, change.after), max(change.before, change.after)
    short = extra = waves = 0
    while True:
        settle()
        placed = sum(replica.has_room for replica in state.replicas)
        for replica in state.replicas:
            if not replica.has_room and (change.room is None or placed < change.room):
                replica.has_room = True
                placed += 1
        short = max(short, common - state.ready)
        extra = max(extra, len(state.replicas) - most)
        starting = [replica for replica in state.replicas if replica.has_room and not replica.is_ready]
        if not starting:
            break
        for replica in starting:
            replica.is_ready = True
        waves += 1
    gone = sum(replica not in state.replicas for replica in state.first)
    return Course(
        restarted=max(0, gone - max(0, change.before - change.after)),
        short=short,
        extra=extra,
        waves=waves,
        stuck=not is_done(),
        left=max(0, len(state.replicas) - change.after),
    )


def scaled(change: TemplateChange) -> Course:
    """Return what any controller does if replicas are only added or removed."""
    added = max(0, change.after - change.before)
    placed = added if change.room is None else max(0, min(added, change.room - change.before))
    waves = placed if change.ordered else min(1, placed)
    return Course(restarted=0, short=0, extra=0, waves=waves, stuck=placed < added)


def deployment(change: TemplateChange) -> Course:
    """Return what the controller of Deployments does."""
    if change.is_scaling or change.keeps or not change.before:
        # Without old pods, the first step creates the new ones.
        return scaled(change)
    after = change.after
    if change.recreates:
        common = min(change.before, after)
        placed = after if change.room is None else min(after, change.room)
        return Course(restarted=common, short=common, extra=0, waves=min(1, placed), stuck=placed < after)
    unavailable = min(change.unavailable, after)
    if not change.surge and not unavailable:
        unavailable = 1
    if max(change.before, after) > _LARGEST:
        step = max(1, change.surge + unavailable)
        return Course(
            restarted=min(change.before, after),
            short=min(unavailable, change.before),
            extra=min(change.surge, after),
            waves=-(-after // step),
        )
    state = _Rollout.of(change)
    # Before the template, the number of replicas changes: isScalingEvent.
    if after > change.before:
        for index in range(change.before, after):
            state.create(index, is_new=False)
    else:
        del state.replicas[after:]

    def settle() -> None:
        while _rolling_step(state, after, change.surge, unavailable):
            pass

    def is_done() -> bool:
        return len(state.replicas) == after and all(r.is_new and r.is_ready for r in state.replicas)

    return _course(state, settle, is_done)


def _rolling_step(state: _Rollout, after: int, surge: int, unavailable: int) -> bool:
    """Do one synchronization of a Deployment; return whether it changed anything."""
    total = len(state.replicas)
    new = [replica for replica in state.replicas if replica.is_new]
    added = min(after + surge - total, after - len(new))
    if added > 0:
        for _ in range(added):
            state.create(after + len(state.replicas), is_new=True)
        return True
    least = after - unavailable
    removable = total - least - sum(not replica.is_ready for replica in new)
    if removable <= 0:
        return False
    # Old pods that are not ready go first, and then as many as are available beyond the least.
    broken = [replica for replica in state.replicas if not replica.is_new and not replica.is_ready][:removable]
    for replica in broken:
        state.replicas.remove(replica)
    spare = state.ready - least
    old = [replica for replica in state.replicas if not replica.is_new and replica.is_ready]
    ended = old[: max(0, spare)]
    for replica in ended:
        state.replicas.remove(replica)
    return bool(broken or ended)


def stateful_set(change: TemplateChange) -> Course:
    """Return what the controller of StatefulSets does."""
    if change.is_scaling:
        return scaled(change)
    moving = max(0, min(change.before, change.after) - change.partition)
    if max(change.before, change.after) > _LARGEST:
        moving = 0 if change.keeps else moving
        return Course(restarted=moving, short=min(1, moving), extra=0, waves=moving)
    state = _Rollout.of(change)

    def settle() -> None:
        _settle_set(state, change.after, change.partition, ordered=change.ordered, keeps=change.keeps)

    return _course(state, settle, lambda: state.is_done(change.after))


def _settle_set(state: _Rollout, count: int, partition: int, *, ordered: bool = False, keeps: bool = False) -> None:
    """Let the controller of a StatefulSet act until it waits."""
    while True:
        if _is_growing(state, count, partition, ordered=ordered):
            return
        state.replicas = [replica for replica in state.replicas if replica.index < count]
        if keeps:
            return
        for index in reversed(range(partition, count)):
            replica = state.at(index)
            if replica is not None and not replica.is_new:
                state.replicas.remove(replica)
                break
            if replica is None or not replica.is_ready:
                return
        else:
            return


def _is_growing(state: _Rollout, count: int, partition: int, *, ordered: bool) -> bool:
    """Create missing replicas; return whether the set waits for one before it does anything else."""
    for index in range(count):
        replica = state.at(index)
        if replica is None:
            state.create(index, is_new=index >= partition)
        if ordered and (replica is None or not replica.is_ready):
            return True
    return False


def leader_worker_set(change: TemplateChange) -> Course:
    """Return what the controller of LeaderWorkerSets does; a replica is a group.

    With a partition, an update is never complete, so that groups that are added bring those of the surge with them.
    """
    held = max(change.held, change.partition)
    if change.is_scaling and (not held or max(change.before, change.after) > _LARGEST):
        return scaled(change)
    moving = max(0, min(change.before, change.after) - change.partition)
    surge = min(change.surge, change.after)
    if max(change.before, change.after) > _LARGEST:
        waves = moving + bool(surge and moving)
        return Course(restarted=moving, short=0 if surge else min(1, moving), extra=surge, waves=waves)
    state = _Rollout.of(change)
    after = change.after
    burst = after + surge

    def wanted(unready: int) -> int:
        if unready <= surge:
            return after + max(0, unready - change.unavailable)
        return burst

    partition = min(after, change.before)
    count = after if change.before < after else wanted(after)
    if change.is_scaling:
        partition, count = held, after

    def settle() -> None:
        nonlocal partition, count
        while True:
            partition = max(partition, change.partition)
            _settle_set(state, count, partition)
            before = partition, count
            if partition == 0 and count == after:
                return
            if count < after:
                count = after
            else:
                step = change.unavailable + surge - (burst - count)
                partition = max(_next_partition(state, count, step, partition), change.partition)
                waiting = [state.at(index) for index in range(after)]
                count = wanted(sum(r is None or not (r.is_ready and r.is_new) for r in waiting))
            if (partition, count) == before:
                return

    return _course(state, settle, lambda: state.is_done(after))


def _next_partition(state: _Rollout, count: int, step: int, current: int) -> int:
    """Return the next partition of the leaders (``rollingUpdatePartition``)."""
    found = [state.at(index) for index in range(count)]
    ready = [replica is not None and replica.is_ready for replica in found]
    updated = [replica is not None and replica.is_new for replica in found]
    done = 0
    while done < count and ready[count - 1 - done] and updated[count - 1 - done]:
        done += 1
    least = max(0, count - done - step)
    partition = least + sum(not is_ready for is_ready in ready[:least])
    for index in range(min(partition, count - 1), least - 1, -1):
        if ready[index] and not updated[index]:
            break
        partition = index
    return min(partition, current)
