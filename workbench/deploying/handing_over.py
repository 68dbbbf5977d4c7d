"""Handing a stack from one engine to the other: what runs stays, and its fields and the state change hands."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from components.contract.texts.outputs import shell_word
from toolkit.kube import Kube, NoSuchKindError
from toolkit.kube.managed_fields import APPLY
from toolkit.printing import pluralize, print_to_stderr

from ..engine.apply.conflicts import lines_about_writers
from ..engine.apply.objects import MANAGER, look_up
from ..engine.apply.ownership import Entry, take_over
from ..engine.ejecting import forget_state
from ..engine.local import LocalEngine
from ..engine.program.graph import ResourceGraph
from ..engine.program.resources import KUBERNETES_PROVIDER
from ..engine.programs import built
from ..engine.pulumi_cli import PulumiCli, installed
from ..engine.pulumi_files import deployed_by_cli
from ..engine.targets import Targets
from ..engine.values import reveal
from ..errors import WorkbenchError
from .call import StackCall


def is_local(call: StackCall) -> bool:
    """Whether the local engine has deployed the stack."""
    from ..engine.state import State

    folder = call.state_dir / "stacks"
    if not State(folder, call.stack).exists:
        return False
    with State(folder, call.stack) as state:
        return bool(state.rows())


def refuse_other_engine(call: StackCall, cli: PulumiCli | None, command: str) -> None:
    """Refuse a command with an engine that has not deployed the stack, while the other one has.

    Raises:
        WorkbenchError: it has.
    """
    own, other = ("Pulumi CLI", "local engine") if cli else ("local engine", "Pulumi CLI")
    if is_local(call) if cli else _is_on_cli(call) and not is_local(call):
        engine = "local" if cli else "pulumi"
        raise WorkbenchError(
            f"stack {call.stack!r} was deployed by the {other}, and the {own} does not know what it contains; run "
            f"`workbench {command} --stack {shell_word(call.stack)} --engine {engine}`, or hand the stack over with "
            f"`workbench up --stack {shell_word(call.stack)} --engine {'pulumi' if cli else 'local'}`. Nothing was "
            "changed."
        )


class ToCli:
    """Hands a stack of the local engine to the Pulumi CLI, around its first update.

    Args:
        call: The arguments of ``up``.
        cli: The Pulumi CLI.
    """

    def __init__(self, call: StackCall, cli: PulumiCli) -> None:
        self._call, self._cli = call, cli

    def prepare(self) -> None:
        """Check that the CLI will find everything as the program declares it, and import what the stack adopts.

        Raises:
            WorkbenchError: the program was changed since the last update, or something cannot be imported.
        """
        stack = shell_word(self._call.stack)
        engine = self._call.local()
        pending = engine.pending()
        if pending:
            # The first update of the CLI only creates: it deletes nothing, and conflicts with the fields of others.
            verb = "is" if pending == 1 else "are"
            raise WorkbenchError(
                f"stack {self._call.stack!r} was deployed by the local engine, and {pluralize(pending, 'change')} of "
                f"the program {verb} not applied; run `workbench up --stack {stack} --engine local` first. Nothing "
                "was changed."
            )
        graph = engine.record(preview=True)
        # Other programs may own the same values now; each later change is a conflict with them.
        live = [found for _, _, found in _live_objects(graph, self._call)]
        print_to_stderr([f"warning: {line}" for line in lines_about_writers(live)])
        self._import(graph)

    def _import(self, graph: ResourceGraph) -> None:
        """Import what the stack adopts, as it is: the first update would compare objects with every default.

        Imported cloud resources are protected until the update, which declares that they are retained. Otherwise a
        user who answers no to the update would lose nodes with a later `pulumi destroy`.

        Raises:
            WorkbenchError: the CLI cannot import something, such as a node group without credentials.
        """
        from ..adopting.import_file import import_text
        from ..adopting.reading import look_up as look_up_named

        known = self._cli.deployed()
        left = [node for urn, node in graph.nodes.items() if node.registration.import_id and urn not in known]
        if not left:
            return
        objects = [node for node in left if node.registration.is_object]
        with _targets_of(graph, self._call) as targets:
            if objects:
                kube = targets.connect(objects[0].registration.provider).kube
                text = import_text(graph, functools.partial(look_up_named, kube))
            else:
                text = import_text(graph, lambda *_: None)
        self._cli.import_resources(text, protected=len(objects) < len(left))

    def finish(self) -> int:
        """Give the fields to the CLI's field managers, and close the local state; return the number of objects."""
        graph = self._call.local().record(preview=True)
        changed = _give_fields(graph, self._call, self._cli.field_managers())
        forget_state(self._call.state_dir / "stacks", self._call.stack)
        return changed


def _is_local_entry(entry: Entry) -> bool:
    return entry.get("manager") == MANAGER and entry.get("operation") == APPLY and not entry.get("subresource")


def _targets_of(graph: ResourceGraph, call: StackCall) -> Targets:
    """Return the clusters of a recorded program."""
    targets = Targets(call.cwd, call.kubeconfig)
    for urn, node in graph.nodes.items():
        if node.registration.type == KUBERNETES_PROVIDER:
            targets.add(urn, node.inputs)
    return targets


def _give_fields(graph: ResourceGraph, call: StackCall, managers: Mapping[str, str]) -> int:
    changed = 0
    for urn, kube, live in _live_objects(graph, call):
        # Both engines declare the same fields, so that none stays behind.
        changed += urn in managers and take_over(kube, live, managers[urn], _is_local_entry, kept={})
    return changed


def _live_objects(graph: ResourceGraph, call: StackCall) -> Iterator[tuple[str, Kube, dict[str, Any]]]:
    """Yield the objects of a recorded program that exist, with their URNs and clients."""
    with _targets_of(graph, call) as targets:
        for urn, node in graph.nodes.items():
            if not node.registration.is_object or node.pending:
                continue
            kube = targets.connect(node.registration.provider).kube
            try:
                live = look_up(kube, reveal(dict(node.inputs)))
            except NoSuchKindError:
                continue
            if live:
                yield urn, kube, live


class ToLocal:
    """Hands a stack of the Pulumi CLI to the local engine, around its first update.

    Args:
        call: The arguments of ``up``.
    """

    def __init__(self, call: StackCall) -> None:
        self._call = call
        self._cli = PulumiCli(call.cwd, call.stack, call.state_dir, call.kubeconfig)

    @classmethod
    def of(cls, call: StackCall) -> "ToLocal | None":
        """Return the handover; None if the CLI has not deployed the stack.

        Raises:
            WorkbenchError: it has, and is no longer there.
        """
        if not _is_on_cli(call):
            return None
        if not (installed() or built()):
            raise WorkbenchError(
                f"stack {call.stack!r} was deployed by the Pulumi CLI, which is not on the PATH; install it, or "
                "build it with `workbench dev build-pulumi`. Nothing was changed."
            )
        return cls(call)

    def check(self, engine: LocalEngine) -> LocalEngine:
        """Return the engine with what it takes over.

        Raises:
            WorkbenchError: the stack contains resources that the program no longer has: no engine would delete them.
        """
        known = self._cli.field_managers()
        graph = engine.record(preview=True)
        left = sorted(urn for urn in known if urn not in graph.nodes)
        if left:
            names = ", ".join(left)
            raise WorkbenchError(
                f"stack {self._call.stack!r} was deployed by the Pulumi CLI, and contains resources that the program "
                f"no longer has: {names}; run `workbench up --stack {shell_word(self._call.stack)} --engine pulumi` "
                "first. Nothing was changed."
            )
        return engine.taking_over(known)

    def finish(self) -> None:
        """Make the CLI forget the stack; what runs stays."""
        self._cli.forget()


def _is_on_cli(call: StackCall) -> bool:
    return deployed_by_cli(call.cwd, call.stack, call.state_dir)
