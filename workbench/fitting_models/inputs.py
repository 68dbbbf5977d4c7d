"""What the command line says: the model, in any of four forms, and the accelerators."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import WorkbenchError

if TYPE_CHECKING:
    from components.checks.memory.workloads.known import KnownShapes
    from components.fleet.instances import Instance

_FORMS = (
    "a model of the catalog, a repository such as org/name-8B, a config.json or its folder, a GGUF file, "
    "or --parameters"
)
_CONFIG, _GGUF = "config.json", ".gguf"
_MOST_LISTED = 5
"""Missing files that a message lists."""


class GivenModel(NamedTuple):
    """A model and what is known of it.

    Attributes:
        name: Name that a server loads.
        engine: The engine for files of its format; empty for any.
        file: The local file that describes it; None if it has a name only.
    """

    name: str
    known: "KnownShapes"
    engine: str = ""
    file: Path | None = None


def given_model(text: str, parameters: str) -> GivenModel:
    """Return the model that the command line names.

    Raises:
        WorkbenchError: there is none; the message lists similar names, and what else can be passed.
    """
    from components.checks.memory.workloads.known import KnownShapes
    from components.plan.fitting.names import named_by_parameters

    if parameters and text:
        raise WorkbenchError("MODEL and --parameters cannot be used together; omit one", 2)
    if parameters:
        try:
            return GivenModel(named_by_parameters(parameters), KnownShapes())
        except ValueError as error:
            raise WorkbenchError(f"--parameters: {error}", 2) from None
    if not text.strip():
        raise WorkbenchError(f"MODEL is missing: pass {_FORMS}", 2)
    path = Path(text)
    if path.suffix.lower() == _GGUF:
        return _of_gguf(path)
    if path.is_dir() or path.name == _CONFIG:
        return _of_config(path)
    return _of_name(text.strip())


def _of_name(text: str) -> GivenModel:
    from components.checks.memory.naming import estimate
    from components.checks.memory.workloads.known import KnownShapes
    from components.plan.fitting.names import catalog_name, near_names

    found = catalog_name(text)
    if isinstance(found, str):
        return GivenModel(found, KnownShapes())
    # A repository that is not in the catalog is estimated from its name, as in a plan.
    if "/" in text and estimate(text) is not None:
        return GivenModel(text, KnownShapes())
    similar = found or near_names(text)
    near = f"; similar models: {', '.join(similar)}" if similar else ""
    raise WorkbenchError(f"unknown model {text!r}{near}; pass {_FORMS}", 2)


def _of_config(path: Path) -> GivenModel:
    from components.checks.memory.workloads.known import KnownShapes

    from ..local_models import shapes_in

    file = path / _CONFIG if path.is_dir() else path
    name = (file.parent.name or file.resolve().parent.name) if file.name == _CONFIG else file.stem
    shapes = shapes_in([str(file)])
    own = next(iter(shapes.values()))
    own = own._replace(shape=replace(own.shape, name=name))
    if own.shape.parameters is None and own.shape.weights_bytes is None:
        architecture = _architecture(file)
        raise WorkbenchError(
            f"{file}: the architecture {architecture} is unknown, and so is the size of the weights; add the "
            "model.safetensors.index.json of the model beside it, or pass --parameters",
            2,
        )
    return GivenModel(name, KnownShapes(own={name: own}), file=file)


def _architecture(file: Path) -> str:
    config = json.loads(file.read_text(encoding="utf-8"))
    named = config.get("architectures")
    return str(named[0] if isinstance(named, list) and named else config.get("model_type") or "without a name")


_PART = re.compile(r"(?P<name>.+)-(?P<number>[0-9]{5})-of-(?P<parts>[0-9]{5})\.gguf", re.IGNORECASE)
"""The name of a part of a split model (ggml-org/llama.cpp, ``llama_split_path``)."""


def _parts(path: Path) -> list[Path]:
    """Return all parts of a split model, of which the first has the header; the file itself if it is not split.

    Raises:
        WorkbenchError: parts are missing beside it.
    """
    match = _PART.fullmatch(path.name)
    if not match:
        return [path]
    number, count = int(match["number"]), int(match["parts"])
    if not 1 <= number <= count:
        raise WorkbenchError(f"{path}: is part {number} of {count}; rename it to one from 1 to {count}", 2)
    parts = [path.with_name(f"{match['name']}-{each:05}-of-{count:05}{path.suffix}") for each in range(1, count + 1)]
    if missing := [part.name for part in parts if not part.is_file()]:
        names = ", ".join(missing[:_MOST_LISTED]) + (", ..." if len(missing) > _MOST_LISTED else "")
        raise WorkbenchError(
            f"{path}: {len(missing)} of {count} parts of the model are missing beside it: {names}; download them", 2
        )
    return parts


def _of_gguf(path: Path) -> GivenModel:
    from components.checks.memory.gguf import read_gguf
    from components.checks.memory.workloads.known import KnownShapes, OwnShape

    parts = _parts(path)
    path = parts[0]
    try:
        with path.open("rb") as stream:
            shape = read_gguf(stream, path.name, sum(part.stat().st_size for part in parts))
    except OSError as error:
        raise WorkbenchError(f"{path}: cannot be read: {error.strerror or error}; correct the path", 2) from None
    except ValueError as error:
        raise WorkbenchError(str(error), 2) from None
    own = {path.name: OwnShape(shape, is_sized=True)}
    return GivenModel(path.name, KnownShapes(own=own), "llamacpp", path)


class GivenAccelerator(NamedTuple):
    """The instance types to consider.

    Attributes:
        wanted: Whether an instance type is one of them; None for all.
        number: Accelerators of a replica; 0 for any number.
    """

    wanted: "Callable[[Instance], bool] | None" = None
    number: int = 0


def given_accelerator(text: str) -> GivenAccelerator:
    """Read ``--gpu``: an accelerator such as L40S or 4xL40S, or an instance type.

    Raises:
        WorkbenchError: there is no such accelerator.
    """
    from components.contract.problems import did_you_mean
    from components.fleet.instances import instance, instances
    from components.performance.sizing.accelerators import known_accelerator

    if not text:
        return GivenAccelerator()
    node = instance(text)
    if node is not None and node.accelerators:
        return GivenAccelerator(lambda other: other is node)
    known = known_accelerator(text)
    if known is not None and known.types:
        several = known.count if "x" in text.lower() and text[0].isdecimal() else 0
        return GivenAccelerator(known.is_on, several)
    accelerators = sorted({node.accelerator for node in instances().values() if node.accelerator})
    types = (name for name, node in instances().items() if node.accelerators)
    hint = did_you_mean(text, [*accelerators, *types]) or f"; accelerators: {', '.join(accelerators)}"
    raise WorkbenchError(f"--gpu: unknown accelerator or instance type {text!r}{hint}", 2)
