"""``up``, ``preview``, ``destroy`` and ``outputs`` of the local engine."""

import gc
import json
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi

from components.contract.findings.ids import RuleId
from components.contract.texts.outputs import shell_word
from components.contract.texts.secrets import masked_text
from toolkit.kube import KubeError
from toolkit.printing import pluralize

from ..errors import WorkbenchError
from .apply.execute import Executor, Failure, Result
from .apply.ready import await_ready
from .apply.remove import Remover
from .apply.strict import check_passed_through
from .display import Display, output_changes
from .interrupts import cancellable
from .plan import APPLIED, CHANGING, ChangePlan, Op, Step
from .planning.planner import Planner
from .program.adapter import Monitor, Program, Run, program_at, run_program
from .program.graph import Existing, ResourceGraph
from .program.resources import KUBERNETES, PROVIDERS, STACK_TYPE, make_urn
from .program.stand_ins import StandIns
from .project import Project
from .state import State, StateRow
from .targets import Targets
from .values import masked, resealed, seal, with_secrets

_OUTPUTS = "outputs"


@dataclass(slots=True)
class RunOptions:
    """Options of a command."""

    offline: bool = False
    """Plan from the state alone, without contacting a cluster."""
    wait: bool = True
    seconds: float | None = None
    """Seconds to wait for each workload; None for the timeout of its resource."""
    workers: int = 8
    kubeconfig: str = ""
    existing: Existing = field(default_factory=dict)
    brief: bool = False
    """Whether the changes are shown only after they were made, because nobody is asked to confirm them."""
    handed: frozenset[str] = frozenset()
    """URNs of resources that another engine has created for this stack, so that they are not adopted."""
    confirm: Callable[[str], bool] = lambda _: True
    status: Callable[[str], None] = lambda _: None


@dataclass(slots=True)
class Outcome:
    """The result of a command."""

    outputs: dict[str, Any] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    changed: int = 0

    @property
    def ok(self) -> bool:
        return not self.failures


class LocalEngine:
    """Runs one stack of a project."""

    def __init__(
        self,
        project: Project,
        state_folder: Path,
        display: Display | None = None,
        options: RunOptions | None = None,
        program: Program | None = None,
    ) -> None:
        self._project = project
        self._folder = state_folder
        self._display = display or Display()
        self._options = options or RunOptions()
        self._program = program or program_at(project.folder, project.main)
        self._targets = Targets(project.folder, self._options.kubeconfig, waiting=self._options.status)
        self._results: list[Result] = []
        self._planned = 0

    def preview(self) -> Outcome:
        """Show what ``up`` would do."""
        with self._cancellable(), _few_collections(), self._open_state() as state, self._targets:
            graph = self.record(preview=True)
            plan = self._plan(graph, state, strict=False)
            before = state.fact(_OUTPUTS) or {}
            after = seal(graph.exports, state.key)
            changed = output_changes(resealed(before, after, state.key), after)
            self._display.preview(plan, graph.root, changed, graph.exports)
            self._check_permitted(plan)
            self._dry_run_passed_through(plan)
        return Outcome(graph.exports, changed=_count(plan.having(*CHANGING)))

    def up(self) -> Outcome:
        """Create, update and delete resources according to the program."""
        started = time.monotonic()
        with self._cancellable(), _few_collections(), self._open_state() as state, self._targets:
            graph = self.record(preview=False)
            _check_deployable(graph)
            plan = self._plan(graph, state, strict=True)
            self._check_permitted(plan)
            self._check_imports(plan)
            if not self._options.brief and plan.having(*CHANGING):
                self._display.announce(plan, graph.root)
            self._dry_run_passed_through(plan)
            changing = self._planned = _count(plan.having(*CHANGING))
            if changing and not self._options.confirm(f"Apply these {changing} changes?"):
                raise WorkbenchError("nothing was changed")
            result = self._apply(plan, state)
            if not result.failures:
                state.set_fact(_OUTPUTS, seal(graph.exports, state.key))
            self._display.applied(plan, graph.root, result, time.monotonic() - started, graph.exports)
        return Outcome(graph.exports, result.failures, _changed(result))

    def pending(self) -> int:
        """Return the number of changes that ``up`` would make."""
        with self._cancellable(), self._open_state() as state, self._targets:
            plan = self._plan(self.record(preview=False), state, strict=True)
        return _count(plan.having(*CHANGING))

    def taking_over(self, urns: Iterable[str]) -> "LocalEngine":
        """Return the engine for a stack whose resources another engine has created."""
        self._options.handed = frozenset(urns)
        return self

    def destroy(self) -> Outcome:
        """Delete all resources of the stack."""
        started = time.monotonic()
        project = self._project
        with self._cancellable(), self._open_state() as state, self._targets:
            plan = self._plan(None, state, strict=True)
            _check_protected(plan)
            root = make_urn(project.stack, project.name, "", STACK_TYPE, f"{project.name}-{project.stack}")
            if not self._options.brief:
                self._display.announce(plan, root)
            changing = self._planned = _count(plan.having(*CHANGING))
            if changing and not self._options.confirm(f"Delete these {changing} resources?"):
                raise WorkbenchError("nothing was deleted")
            state.forget(plan.forgotten)
            result = self._remover(state, plan).delete(plan)
            if not result.failures:
                state.set_fact(_OUTPUTS, {})
            self._display.applied(plan, root, result, time.monotonic() - started, {})
        return Outcome({}, result.failures, _changed(result))

    def _open_state(self) -> State:
        return State(self._folder, self._project.stack)

    @contextmanager
    def _cancellable(self) -> Iterator[None]:
        """Cancel on signals, and fail if a cluster does not respond; both report the completed changes."""
        with cancellable(lambda: f"cancelled; {self._completed()}"):
            try:
                yield
            except KubeError as error:
                lines = [error.message, *self._targets.repairs(), self._completed()]
                raise WorkbenchError("\n".join(lines)) from error

    def _completed(self) -> str:
        done = sum(map(_changed, self._results))
        if not done:
            return "nothing was changed"
        return (
            f"{done} of {self._planned} changes were made and are recorded. Run the same command again to continue, "
            "or `workbench destroy` to delete everything."
        )

    def is_deployed(self) -> bool:
        """Whether the state of the stack contains a resource; does not create a state."""
        if not State(self._folder, self._project.stack).exists:
            return False
        with self._open_state() as state:
            return bool(state.rows())

    def outputs(self) -> dict[str, Any]:
        """Return the outputs of the last ``up``, secrets masked."""
        with self._open_state() as state:
            outputs: dict[str, Any] = masked(state.fact(_OUTPUTS) or {})
            return outputs

    def record(self, *, preview: bool, stand_ins: StandIns | None = None) -> ResourceGraph:
        """Run the program and return the resources that it registers.

        Args:
            preview: Whether the run is a preview.
            stand_ins: Values for unknown outputs.

        Raises:
            WorkbenchError: the program failed; with its message, or a traceback of its own files.
        """
        project = self._project
        graph = ResourceGraph(
            project.stack,
            project.name,
            disabled=project.disabled_providers,
            preview=preview,
            secrets=project.secrets,
            existing=self._options.existing,
        )
        run = Run(
            project=project.name,
            stack=project.stack,
            preview=preview,
            config=project.config,
            secret_keys=project.secret_keys,
            secrets=project.secrets,
        )
        try:
            with stand_ins.followed() if stand_ins else nullcontext():
                exports = run_program(self._program, Monitor(graph, stand_ins), run)
            graph.exports = with_secrets(exports, project.secrets)
        except pulumi.RunError as error:
            raise WorkbenchError(masked_text(str(error), project.secrets)) from None
        except (KeyboardInterrupt, SystemExit, WorkbenchError):
            raise
        except BaseException as error:
            raise WorkbenchError(masked_text(program_trace(error, project.folder), project.secrets)) from error
        return graph

    def _plan(self, graph: ResourceGraph | None, state: State, *, strict: bool) -> ChangePlan:
        rows = state.rows()
        if graph:
            self._check_project(graph, rows)
        planner = Planner(graph, rows, self._targets, state.key, offline=self._options.offline, strict=strict)
        return planner.plan()

    def _check_project(self, graph: ResourceGraph, rows: Mapping[str, StateRow]) -> None:
        """Reject the state of another project, whose resources would all be deleted, unless aliases refer to it."""
        own = f"urn:pulumi:{self._project.stack}::{self._project.name}::"
        known = {urn for node in graph.nodes.values() for urn in node.former}
        if not rows or any(urn.startswith(own) or urn in known for urn in rows):
            return
        other = next(iter(rows)).split("::")[1]
        raise WorkbenchError(
            f"the state of stack {self._project.stack!r} in {self._folder} belongs to project {other!r}, not to "
            f"{self._project.name!r}: it contains {next(iter(rows))}. If the name in Pulumi.yaml was changed, "
            "restore the former name and run `workbench destroy` first, or add aliases to the resources. Nothing was "
            "changed."
        )

    def _check_permitted(self, plan: ChangePlan) -> None:
        """Reject a plan that changes protected resources, or that the Pulumi CLI would not carry out like this."""
        _check_protected(plan)
        ignored = json.loads(self._project.config.get(self._project.key("ignore")) or "{}")
        if plan.refused and RuleId.CHANGE_DESTROYS not in ignored:
            lines = "\n".join(f"{reason} [{RuleId.CHANGE_DESTROYS}]" for reason in plan.refused)
            raise WorkbenchError(f"this must not be deployed, and nothing was changed:\n{lines}")

    def _check_imports(self, plan: ChangePlan) -> None:
        """Reject imports that would change what runs: somebody edited it after it was adopted, or its manifest."""
        changed = {step.urn: step for step in plan.having(Op.IMPORT) if step.changes}
        if not changed:
            return
        self._display.differences(ChangePlan(changed))
        raise WorkbenchError(
            f"importing {pluralize(len(changed), 'object')} would change what runs, as listed above, and nothing was "
            "changed: the cluster or the manifest was edited after the adoption. Run `workbench adopt` again with "
            "--force to take over what runs now, or `workbench up --restore` to apply the manifests."
        )

    def _dry_run_passed_through(self, plan: ChangePlan) -> None:
        if not self._options.offline:
            check_passed_through(plan.steps.values(), self._targets)

    def _apply(self, plan: ChangePlan, state: State) -> Result:
        count = len([step for step in plan.having(*APPLIED) if step.is_object])
        executor = Executor(state, self._targets, self._counter("applied", count))
        executor.workers = self._options.workers
        executor.handed = self._options.handed
        self._results.append(executor.result)
        result = executor.apply(plan)
        if not result.failures:
            removed = self._remover(state, plan).delete(plan)
            result.done = [*result.done, *removed.done]
            result.failures += removed.failures
        if self._options.wait and not result.failures:
            # Whether imported workloads are ready does not depend on this deployment.
            applied = [step for step in result.done if step.node and step.op is not Op.IMPORT]
            result.failures += await_ready(applied, self._targets, self._options.seconds, self._options.status)
        return result

    def _remover(self, state: State, plan: ChangePlan) -> Remover:
        count = len(plan.having(Op.DELETE, Op.DISCARD))
        remover = Remover(state, self._targets, self._counter("deleted", count), self._options.workers)
        self._results.append(remover.result)
        return remover

    def _counter(self, word: str, count: int) -> Callable[[Step], None]:
        done = 0

        def progress(_: Step) -> None:
            nonlocal done
            done += 1
            self._options.status(f"{word} {done} of {count}")

        return progress


@contextmanager
def _few_collections() -> Iterator[None]:
    """Collect garbage rarely: traversing a growing graph of thousands of objects takes much of a program's time."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 50, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _check_deployable(graph: ResourceGraph) -> None:
    """Reject a stack in which every object depends on a resource of a cloud."""
    pending = [node.registration for node in graph.nodes.values() if node.pending]
    packages = (registration.type.removeprefix(PROVIDERS).partition(":")[0] for registration in pending)
    clouds = {*packages} - {KUBERNETES}
    deployable = any(node.registration.is_object and not node.pending for node in graph.nodes.values())
    if clouds and not deployable:
        raise WorkbenchError(
            f"nothing was deployed: the local engine has no provider for {', '.join(sorted(clouds))}, and all "
            f"resources of stack {graph.stack!r} depend on it. Run `workbench preview --stack "
            f"{shell_word(graph.stack)}` to see "
            "the plan; to deploy, install the Pulumi CLI (--engine pulumi)"
        )


def _changed(result: Result) -> int:
    return _count(step for step in result.done if step.op in CHANGING)


def _count(steps: Iterable[Step]) -> int:
    return sum(not step.is_component for step in steps)


def _check_protected(plan: ChangePlan) -> None:
    """Reject a plan that deletes or replaces protected resources."""
    protected = [
        step.urn
        for step in plan.having(Op.DELETE, Op.REPLACE, Op.FORGET)
        if (step.row and step.row.protect) or (step.node and step.node.protect)
    ]
    if protected:
        lines = "\n".join(f"  {urn}" for urn in protected)
        raise WorkbenchError(
            "these resources are protected, but would be deleted or replaced:\n"
            f"{lines}\n"
            "Set protect=False on them, run `up`, and try again."
        )


def program_trace(error: BaseException, folder: Path) -> str:
    """Return the traceback reduced to the program's own frames."""
    workbench = Path(__file__).parents[1]  # may be inside the project folder
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if _is_source(frame.filename, folder) and not _is_source(frame.filename, workbench)
    ]
    lines = ["the program failed:", *(line.rstrip() for line in traceback.format_list(frames))]
    return "\n".join([*lines, "".join(traceback.format_exception_only(error)).rstrip()])


def _is_source(filename: str, folder: Path) -> bool:
    """Whether a file is in a folder, and not in an environment inside it."""
    path = Path(filename)
    inside = path.is_absolute() and path.is_relative_to(folder.resolve())
    return inside and not {"site-packages", "dist-packages"} & set(path.parts)
