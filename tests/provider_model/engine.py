"""``pulumi up`` in virtual time, on an account with a cluster.

Steps are those of pulumi/pulumi, pkg/resource/deploy (step_generator.go, deployment_executor.go): a resource starts
when all that it comes from is there; a replacement is created before the old resource is deleted, unless the provider
or the program says otherwise; deletions come last, dependents first; after an error nothing more starts, and nothing
is deleted. Waits end at the custom timeout, else at the provider's own.
"""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import simpy

from tests.provider_model.cluster import RefusedError, Short, Steps
from tests.provider_model.diff import Path, changed_paths, is_at
from tests.provider_model.facts import Facts, facts_of
from tests.provider_model.program import Declared, Program
from tests.provider_model.world import Live, World


class Kind(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    REPLACED = "replaced"
    DELETED = "deleted"


@dataclass
class Outcome:
    """What became of one ``pulumi up``.

    Attributes:
        failed: Why it failed; empty if it succeeded.
        seconds: How long it took.
        changes: What became of each resource, by URN.
        restarted: Replicas that were replaced, by workload.
        short: What workloads lacked.
        lost: What is gone although something needs it.
        without_effect: Fields that the provider only stores in the state.
    """

    failed: str = ""
    seconds: float = 0
    changes: dict[str, Kind] = field(default_factory=dict)
    restarted: dict[str, int] = field(default_factory=dict)
    short: dict[str, Short] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    without_effect: list[str] = field(default_factory=list)


class Engine:
    """One update."""

    def __init__(self, world: World, program: Program) -> None:
        self.world, self.program, self.env = world, program, world.env
        self.outcome = Outcome()
        self._done: dict[str, simpy.Event] = {}
        self._renewed: dict[str, frozenset[str] | None] = {}
        """Outputs that other resources get another value of; None for all."""
        self._deleted_first: dict[str, Live] = {}
        """What was deleted before its replacement comes, by URN."""
        self._leaving: list[Live] = []
        self._today: dict[str, str] = {}
        """URN today by the URN in the state."""

    def run(self) -> Outcome:
        """Run until the update and all that it caused have ended."""
        began = self.env.now
        self.world.begin(self.program)
        process = self.env.process(self._update())
        self.env.run(until=process)
        self.outcome.seconds = self.env.now - began
        self.env.run()  # what goes on after it: nodes that drift, pods that wait
        self.outcome.restarted, self.outcome.short = self.world.effects()
        self.outcome.lost = self.world.lost()
        return self.outcome

    def _update(self) -> Steps:
        for resource in self.program.resources:
            old = next((urn for urn in (resource.urn, *resource.former) if urn in self.world.live), None)
            if old:
                self._today[old] = resource.urn
        for resource in self.program.resources:
            self._done[resource.urn] = self.env.event()
        for resource in self.program.resources:
            self.env.process(self._resource(resource))
        yield simpy.AllOf(self.env, list(self._done.values()))
        if not self.outcome.failed:
            yield from self._delete_the_rest()

    def _resource(self, new: Declared) -> Steps:
        yield simpy.AllOf(self.env, [self._done[urn] for urn in new.needs if urn in self._done])
        if not self.outcome.failed:
            yield from self._step(new)
        self._done[new.urn].succeed()

    def _step(self, new: Declared) -> Steps:
        gone = next((self._deleted_first[urn] for urn in (new.urn, *new.former) if urn in self._deleted_first), None)
        if gone is not None:
            self._mark(new, Kind.REPLACED)
            yield from self._operate("create", new, gone, ())
            return
        old = self.world.find(new)
        if old is None:
            self._mark(new, Kind.CREATED)
            yield from self._operate("create", new, None, ())
            return
        paths = tuple(self._changed(old, new))
        if self._is_replaced(old, new, paths):
            yield from self._replace(old, new)
        elif paths:
            self._mark(new, Kind.UPDATED)
            self._renew(new, paths)
            yield from self._operate("update", new, old, paths)
        else:
            self.world.keep(old, new)

    def _replace(self, old: Live, new: Declared) -> Steps:
        self._mark(new, Kind.REPLACED)
        if old.declared.protected and new.protected:
            self._fail(f"{new.title}: protected, so that Pulumi refuses to replace it")
            return
        if deletes_first(old, new):
            for each in self._dependents_first(old):
                if not self.outcome.failed:
                    yield from self._delete(each)
        else:
            self._leaving.append(old)
        yield from self._operate("create", new, old, ())

    def _mark(self, new: Declared, kind: Kind) -> None:
        self.outcome.changes[new.urn] = kind
        if kind is Kind.REPLACED:
            self._renewed[new.urn] = None

    def _renew(self, new: Declared, paths: tuple[Path, ...]) -> None:
        renewed = facts_of(new.type).renewed
        found = {output for output, fields in renewed.items() if not fields or any(p[0] in fields for p in paths)}
        if found:
            self._renewed[new.urn] = frozenset(found)

    # What changes

    def _changed(self, old: Live, new: Declared) -> Iterator[Path]:
        return changed_paths(old.inputs, new.inputs, new.ignored, self._is_renewed)

    def _is_renewed(self, placeholder: str) -> bool:
        """Whether an unknown value becomes another one in this update."""
        for source in self.program.sources.get(placeholder, ()):
            if source.urn in self._renewed:
                outputs = self._renewed[source.urn]
                if (
                    outputs is None
                    or not source.output
                    or source.output.partition(".")[0].partition("[")[0] in outputs
                ):
                    return True
        return False

    def _is_replaced(self, old: Live, new: Declared, paths: tuple[Path, ...]) -> bool:
        if self._renewed.get(new.provider, ()) is None:
            return True  # its provider is replaced (providerChanged)
        if any(self._renewed.get(urn, ()) is None for urn in new.goes_with):
            return True
        facts = facts_of(new.type, new.inputs)
        fixed = [*facts.forces_new, *new.replaced_on]
        return any(is_at(path, fixed) for path in paths) or facts.shrinks(old.inputs, new.inputs)

    def _dependents_first(self, old: Live) -> list[Live]:
        """Return what goes with a resource that goes first (calculateDependentReplacements), dependents first."""
        found: list[Live] = [old]
        self._deleted_first[old.declared.urn] = old
        for other in self.world.live.values():
            declared = other.declared
            if declared.urn in self._deleted_first or declared.urn not in self._today:
                continue
            fixed = {path.partition(".")[0] for path in facts_of(declared.type, declared.inputs).forces_new}
            ignored = {path for path in declared.ignored if "." not in path}
            gone = {each.declared.urn for each in found}
            if (
                declared.provider in gone
                or gone.intersection(declared.goes_with)
                or any(origins & gone and name in fixed - ignored for name, origins in declared.origins.items())
            ):
                found.append(other)
                self._deleted_first[declared.urn] = other
        return found[::-1]

    # Operations

    def _operate(self, operation: str, new: Declared, old: Live | None, paths: tuple[Path, ...]) -> Steps:
        refused = self.world.refusal(operation, new, old, paths)
        if refused:
            self._fail(f"{new.title}: {refused}")
            return
        if operation == "update":
            fields = [name for name in facts_of(new.type).sticky if any(path[0] == name for path in paths)]
            self.outcome.without_effect += [f"{new.title}: {name}" for name in fields]
        after = self.world.applied(operation, new, old, paths)
        yield from self._within(new, operation, self.world.work(operation, after, old, paths))

    def _within(self, resource: Declared, operation: str, work: Steps) -> Steps:
        limit = limit_of(resource, operation)
        process = self.env.process(_until_interrupted(work))
        yield process if limit is None else process | self.env.timeout(limit)
        if not process.triggered:
            process.interrupt()
            self._fail(f"{resource.title}: {operation} timed out after {(limit or 0) / 60:.0f} minutes")
        elif process.value:
            self._fail(f"{resource.title}: {process.value}")

    def _delete(self, old: Live) -> Steps:
        declared = old.declared
        yield from self._within(declared, "delete", self.world.deletion(old))
        self.world.gone(old)

    def _delete_the_rest(self) -> Steps:
        doomed = []
        for live in [each for urn, each in self.world.live.items() if urn not in self._done]:
            if live.declared.urn in self.program.reads:
                # "Relinquished": what is read under the ID that it has is no longer the stack's, and stays.
                self.world.release(live)
                continue
            self.outcome.changes[live.declared.urn] = Kind.DELETED
            if live.declared.retained:
                self.world.release(live)
            elif live.declared.protected:
                self._fail(f"{live.declared.title}: protected, so that Pulumi refuses to delete it")
            else:
                doomed.append(live)
        doomed += self._leaving
        self.world.leaving = self._leaving
        ended = {id(live): self.env.event() for live in doomed}
        for live in doomed:
            users = [
                other
                for other in doomed
                if other is not live and live.declared.urn in other.declared.needs and not _same(other, live)
            ]
            self.env.process(self._deletion(live, [ended[id(other)] for other in users], ended[id(live)]))
        yield simpy.AllOf(self.env, list(ended.values()))

    def _deletion(self, live: Live, users: list[simpy.Event], ended: simpy.Event) -> Steps:
        yield simpy.AllOf(self.env, users)
        if not self.outcome.failed:
            yield from self._delete(live)
        ended.succeed()

    def _fail(self, reason: str) -> None:
        self.outcome.failed = self.outcome.failed or reason


def _until_interrupted(work: Steps) -> Generator[simpy.Event, Any, str]:
    """Do the work of an operation; return why the cloud gave up, if it did."""
    try:
        yield from work
    except RefusedError as error:
        return str(error)
    except simpy.Interrupt:
        pass
    return ""


def _same(one: Live, other: Live) -> bool:
    return one.declared.urn == other.declared.urn


def deletes_first(old: Live, new: Declared) -> bool:
    """Whether the old resource goes before its replacement comes."""
    if new.deletes_first is not None:
        return new.deletes_first
    if new.is_object:
        # provider.go of pulumi/pulumi-kubernetes, Diff: objects whose name stays.
        return _name(old.inputs) == _name(new.inputs)
    return facts_of(new.type).goes_first(new.inputs)


def _name(inputs: Mapping[str, Any]) -> tuple[Any, Any]:
    return inputs["metadata"].get("namespace"), inputs["metadata"].get("name")


def limit_of(resource: Declared, operation: str) -> float | None:
    """Return how long the provider waits; None if it does not."""
    if operation in resource.timeouts:
        return resource.timeouts[operation]
    facts: Facts = facts_of(resource.type, resource.inputs)
    return facts.limit(operation)
