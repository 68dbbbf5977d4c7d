"""What a revision of a stack registers, as the engine and the providers get it."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from components.plan.review.snapshot import Snapshot, ValueSources
from tests.stacks.shipped import ROOT
from workbench.planning import snapshot as planning
from workbench.planning.recording import recorded

if TYPE_CHECKING:
    from workbench.planning.recording import Recorded

_UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Declared:
    """A resource as the program registers it.

    Attributes:
        inputs: Its inputs; unknown values are placeholders in brackets.
        needs: URNs of what must be there before it.
        origins: URNs that each input comes from.
        timeouts: Custom timeouts in seconds, by operation.
    """

    urn: str
    type: str
    title: str
    inputs: Mapping[str, Any]
    needs: frozenset[str] = frozenset()
    origins: Mapping[str, frozenset[str]] = field(default_factory=dict)
    provider: str = ""
    former: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    replaced_on: tuple[str, ...] = ()
    deletes_first: bool | None = None
    goes_with: tuple[str, ...] = ()
    protected: bool = False
    retained: bool = False
    timeouts: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_object(self) -> bool:
        return self.type.startswith("kubernetes:") and "kind" in self.inputs and "metadata" in self.inputs

    @property
    def kind(self) -> str:
        """Kind of an object; else the last part of the type."""
        return str(self.inputs["kind"]) if self.is_object else self.type.rpartition(":")[2]

    @property
    def name(self) -> str:
        """Logical name."""
        return self.urn.split("::", 3)[3]


@dataclass(frozen=True)
class Program:
    """What one revision registers, in order; empty if the program fails."""

    snapshot: Snapshot
    resources: tuple[Declared, ...] = ()
    reads: frozenset[str] = frozenset()
    """URNs of what the program only reads."""
    reserved: Mapping[str, int] = field(default_factory=dict)
    """Instances of the account's capacity reservations, by ID."""

    @property
    def sources(self) -> ValueSources:
        return self.snapshot.sources


def program_in(folder: Path, stack: str) -> Program:
    """Run the program of a project folder as ``plan`` does."""
    recordings: list[Recorded] = []

    def kept(project: Any) -> "Recorded":
        recordings.append(recorded(project))
        return recordings[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "recorded", kept)
        snapshot = planning.take(folder, stack)
    graph = recordings[0].graph if recordings else None
    if graph is None or snapshot.is_refused:
        return Program(snapshot)
    found = {resource.urn: resource for resource in snapshot.resources}
    resources, reads = [], set()
    for urn, node in graph.nodes.items():  # in order of registration
        registration = node.registration
        if not registration.custom:
            continue
        if node.pending.startswith("already exists"):
            reads.add(urn)
            continue
        origins = {key: frozenset(urns) for key, urns in registration.property_dependencies.items()}
        needs = {*registration.dependencies, *(each for urns in origins.values() for each in urns)}
        resource = found[urn]
        resources.append(
            Declared(
                urn=urn,
                type=resource.type,
                title=resource.title,
                inputs=resource.inputs,
                needs=frozenset({*needs, registration.provider} - {"", urn}),
                origins=origins,
                provider=registration.provider,
                former=resource.former,
                ignored=resource.ignored,
                replaced_on=resource.replaced_on,
                deletes_first=resource.deletes_first,
                goes_with=resource.goes_with,
                protected=resource.protected,
                retained=resource.retained,
                timeouts={key: seconds_of(text) for key, text in registration.timeouts.items() if text},
            )
        )
    return Program(snapshot, tuple(resources), frozenset(reads))


def seconds_of(text: str) -> float:
    """Read a duration as Go writes it: ``1h30m``."""
    total, digits = 0.0, ""
    for character in text:
        if character in _UNITS:
            total += float(digits) * _UNITS[character]
            digits = ""
        else:
            digits += character
    return total


@contextmanager
def project(config: Mapping[str, Any], models: Mapping[str, Sequence[Any]], stack: str = "case") -> Iterator[Path]:
    """Write a project with one stack.

    Args:
        config: The settings, without the project's prefix.
        models: Manifests by file; the setting ``models`` names them.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, documents in models.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump_all(documents, sort_keys=False))
        for file in ("Pulumi.yaml", "__main__.py"):
            (folder / file).write_text((ROOT / file).read_text())
        values = {
            "pulumi:disable-default-providers": ["kubernetes", "aws"],
            **{key if ":" in key else f"inference-platform:{key}": value for key, value in config.items()},
        }
        (folder / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump({"config": values}, sort_keys=False))
        yield folder
