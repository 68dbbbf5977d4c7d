"""``workbench eject``: write plain manifests of a stack, and end its ownership without touching what runs."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from components.contract.texts.outputs import file_name, shell_word
from components.contract.texts.printable import printable
from toolkit.printing import pluralize

from ..deploying.call import Deployer, StackCall
from ..errors import WorkbenchError
from ..prompts import agree, confirm
from ..subject import complete_stack

_CLUSTER = "0-cluster.yaml"
"""The file of namespaces and other cluster-wide objects, which kubectl applies first."""


def eject(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder for the manifests; must not exist.")],
    *,
    stack: Annotated[str, typer.Option(help="Stack to leave.", autocompletion=complete_stack)],
    engine: Annotated[
        Deployer, typer.Option(help="Engine that deployed the stack; auto: the Pulumi CLI if it is on the PATH.")
    ] = Deployer.AUTO,
    cwd: Annotated[Path, typer.Option(help="Project folder.", metavar="DIR")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Skip confirmation prompts.")] = False,
    only_write: Annotated[
        bool, typer.Option("--only-write", help="Write the manifests, and change neither cluster nor state.")
    ] = False,
) -> None:
    """Write plain manifests of a stack, and end its ownership without touching what runs.

    Fields of the objects are given to kubectl's field manager, so that `kubectl apply --server-side` continues
    without conflicts. The state of the local engine is cleared; with the Pulumi CLI, the command that does it is
    printed. Values of Secrets and Helm releases are left out, and listed.

    Exit codes: 0 success, 1 an error, 2 usage error.
    """
    from ..deploying.handing_over import is_local
    from ..engine.ejecting import connected, forget_state, neutral_managers, plain_objects

    if folder.exists():
        raise WorkbenchError(f"{printable(str(folder))} exists; choose another folder", 2)
    call = StackCall(stack, engine, "", cwd.resolve())
    # Whichever engine is chosen, the stack is left by the one that deployed it.
    by_cli = call.cli() is not None and not is_local(call)
    graph = call.local().record(preview=True)
    manifests = plain_objects(graph)
    bodies = [body for _, body in manifests.bodies]
    if not bodies:
        raise WorkbenchError("nothing to eject: the stack has no Kubernetes objects")
    if only_write:
        _write(folder, bodies, manifests.left)
        return
    # Everything that may be refused comes before the first change, of which the files are one.
    with connected(graph, manifests.bodies, call.cwd) as targets:
        question = f"Give {pluralize(len(bodies), 'object')} to kubectl, and forget stack {stack!r}?"
        if not (agree if yes else confirm)(question):
            raise WorkbenchError("nothing was written or changed; --only-write writes the manifests alone")
        _write(folder, bodies, manifests.left)
        changed = neutral_managers(targets, manifests.bodies)
    sys.stdout.write(f"{pluralize(changed, 'object')} handed to kubectl's field manager; nothing else was changed\n")
    if by_cli:
        # The CLI forgets resources only with the stack; retained or not, it does not delete them.
        sys.stdout.write(f"Now forget the stack: pulumi stack rm {shell_word(stack)} --force --preserve-config\n")
    else:
        count = forget_state(call.state_dir / "stacks", stack)
        sys.stdout.write(f"{pluralize(count, 'resource')} forgotten by stack {stack}\n")
    sys.stdout.write(f"Continue with: kubectl apply --server-side -f {shell_word(str(folder))}\n")


def _write(folder: Path, bodies: list[dict[str, object]], left: Iterable[str]) -> None:
    _write_manifests(folder, bodies)
    sys.stdout.write(f"wrote {pluralize(len(bodies), 'manifest')} to {printable(str(folder))}\n")
    for line in left:
        sys.stdout.write(f"left out: {printable(line)}\n")


def _write_manifests(folder: Path, bodies: list[dict[str, object]]) -> None:
    from components.contract.documents.writer import dump_all

    files: dict[str, list[dict[str, object]]] = {}
    for body in bodies:
        metadata = body["metadata"]
        namespace = str(metadata.get("namespace") or "") if isinstance(metadata, dict) else ""
        files.setdefault(f"{file_name(namespace)}.yaml" if namespace else _CLUSTER, []).append(body)
    folder.mkdir(parents=True)
    for name, contents in sorted(files.items()):
        (folder / name).write_text(dump_all(contents), encoding="utf-8")
