"""The arguments of the command line: the model, in any of four forms, and the accelerators."""

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
_CONFIG = "config.json"
_NUMBER = re.compile(r"([1-9][0-9]?)(?: *x +| +x *| +)(\S.*)", re.IGNORECASE)
"""A number of accelerators or nodes, with blanks."""


class GivenModel(NamedTuple):
    """A model and what is known of it.

    Attributes:
        name: Name that a server loads.
        engine: The engine for files of its format; empty for any.
        file: The local file that describes it; None if it has a name only.
        parts: Names of the files that a server loads, the first one first; empty for a repository.
        parameters: Its number of parameters, if that is all that is known.
    """

    name: str
    known: "KnownShapes"
    engine: str = ""
    file: Path | None = None
    parts: tuple[str, ...] = ()
    parameters: int = 0


def given_model(text: str, parameters: str) -> GivenModel:
    """Return the model that the command line names.

    Raises:
        WorkbenchError: there is none; the message lists similar names, and what else can be passed.
    """
    from components.checks.memory.workloads.known import KnownShapes
    from components.plan.fitting.names import named_by_parameters, near_names, parameter_count, served_name

    if parameters and text:
        raise WorkbenchError("MODEL and --parameters cannot be used together; omit one", 2)
    if parameters:
        try:
            return GivenModel(named_by_parameters(parameters), KnownShapes(), parameters=parameter_count(parameters))
        except ValueError as error:
            raise WorkbenchError(f"--parameters: {error}", 2) from None
    if not text.strip():
        raise WorkbenchError(f"MODEL is missing: pass {_FORMS}", 2)
    from ..local_models import is_gguf

    path = Path(text)
    if is_gguf(path):
        return _of_gguf(path)
    if path.exists() or path.name == _CONFIG:
        return _of_config(path)
    text = text.strip()
    name = served_name(text)
    if isinstance(name, str):
        return GivenModel(name, KnownShapes())
    similar = name or near_names(text)
    near = f"; did you mean {similar[0]!r}?" if len(similar) == 1 else f"; similar models: {', '.join(similar)}"
    near = near if similar else ""
    raise WorkbenchError(f"unknown model {text!r}{near}{' Or' if near.endswith('?') else ';'} pass {_FORMS}", 2)


def _of_config(path: Path) -> GivenModel:
    from components.checks.memory.workloads.known import KnownShapes

    from ..local_models import shapes_in

    file = path / _CONFIG if path.is_dir() else path
    name = (file.parent.name or file.resolve().parent.name) if file.name == _CONFIG else file.stem
    shapes = shapes_in([str(file)])
    own = next(iter(shapes.values()))
    own = own._replace(shape=replace(own.shape, name=name))
    if own.shape.parameters is None and own.shape.weights_bytes is None:
        config = json.loads(file.read_text(encoding="utf-8"))
        names = config.get("architectures")
        architecture = names[0] if isinstance(names, list) and names else config.get("model_type") or "without a name"
        raise WorkbenchError(
            f"{file}: the architecture {architecture} is unknown, and so is the size of the weights; add the "
            "model.safetensors.index.json of the model beside it, or pass --parameters",
            2,
        )
    return GivenModel(name, KnownShapes(own={name: own}), file=file)


def _of_gguf(path: Path) -> GivenModel:
    from components.checks.memory.workloads.known import KnownShapes

    from ..local_models import gguf_parts, own_shape

    parts = gguf_parts(path)
    path = parts[0]
    own = {path.name: own_shape(path, path.name)}
    return GivenModel(path.name, KnownShapes(own=own), "llamacpp", path, tuple(part.name for part in parts))


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
    from components.fleet.instances import instance, offered_instances
    from components.performance.sizing.accelerators import known_accelerator

    if not text:
        return GivenAccelerator()
    # As fit prints it: 2 L40S, 10 x p5.4xlarge.
    if spaced := _NUMBER.fullmatch(text.strip()):
        number, name = spaced.groups()
        text = name if instance(name) else f"{number}x{name}"
    node = instance(text)
    if node is not None and node.accelerators:
        return GivenAccelerator(lambda other: other is node)
    known = known_accelerator(text)
    if known is not None and known.types:
        several = known.count if "x" in text.lower() and text[0].isdecimal() else 0
        return GivenAccelerator(known.is_on, several)
    counted = re.fullmatch(r"([1-9][0-9]?)x(.+)", text, re.IGNORECASE)
    wanted = (counted[2] if counted else text).lower()
    if any(node.accelerator and node.accelerator.lower() == wanted for node in offered_instances().values()):
        # An accelerator by the name that fit prints, such as RTX PRO Server 6000.
        return GivenAccelerator(lambda node: node.accelerator.lower() == wanted, int(counted[1]) if counted else 0)
    accelerators = sorted({node.accelerator for node in offered_instances().values() if node.accelerator})
    types = (name for name, node in offered_instances().items() if node.accelerators)
    hint = did_you_mean(text, [*accelerators, *types]) or f"; accelerators: {', '.join(accelerators)}"
    raise WorkbenchError(f"--gpu: unknown accelerator or instance type {text!r}{hint}", 2)
