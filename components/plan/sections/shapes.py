"""Settings that describe models outside the catalog, such as a team's own."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from ...checks.memory.catalog import shape_of, shapes
from ...checks.memory.config import read_config
from ...checks.memory.shapes import Layers, Shape
from ...checks.memory.workloads.known import KnownShapes, OwnShape
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, did_you_mean, field_path
from ...contract.quantity import GIB
from ..section import Section

KEY = "modelShapes"
Read = Callable[[str], str]
"""Returns the text of a file by its path, or raises OSError or ValueError."""
_MOST = 10**15
_Count = Annotated[int, Field(ge=1, le=10**9)]
_SIZE_KEYS = ("config", "like", "weightsGib", "parameters", "layers")
"""A model needs at least one of these keys."""
_LAYER_KEYS = ("layers", "kvHeads", "headDim")
_LAYER_FIELDS = ("layers", "kv_heads", "head_dim")


class ShapeSettings(Section):
    """A model: its config.json, a known model with the same layers, or figures; and the size of its files."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"required": [key], "properties": {key: {"not": {"type": "null"}}}} for key in _SIZE_KEYS],
            "not": {"required": ["config", "like"]},
            "dependencies": {key: [other for other in _LAYER_KEYS if other != key] for key in _LAYER_KEYS},
        }
    )

    config: str | None = Field(default=None, min_length=1)
    """Path of its config.json."""
    like: str | None = Field(default=None, min_length=1)
    """Name of a known model with the same layers, such as its base model."""
    weights_gib: Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)] | None = None
    """Size of its weight files, in GiB."""
    parameters: Annotated[int, Field(ge=1, le=_MOST)] | None = None
    """Number of parameters."""
    dtype: str | None = Field(default=None, min_length=1)
    """Data type of its weights, such as bfloat16 or fp8."""
    layers: _Count | None = None
    """Number of layers; all have a key-value cache."""
    kv_heads: _Count | None = None
    """Key-value heads of a layer."""
    head_dim: _Count | None = None
    """Size of each head: numbers of a key, and of a value."""
    heads: _Count | None = None
    """Attention heads, which tensor parallelism must divide."""
    max_context: _Count | None = None
    """Longest supported context, in tokens."""

    @model_validator(mode="after")
    def _one_source(self) -> "ShapeSettings":
        layers = [key for key in _LAYER_FIELDS if getattr(self, key) is not None]
        sources = [key for key in ("config", "like") if getattr(self, key) is not None]
        if len(sources) + bool(layers) > 1:
            raise ValueError("must be one of config, like, and layers with kvHeads and headDim; set only one of them")
        if layers and len(layers) < len(_LAYER_FIELDS):
            raise ValueError("layers, kvHeads and headDim together determine the size of the cache; set all three")
        if not (sources or layers or self.weights_gib or self.parameters):
            raise ValueError("does not describe the model; set config, like, weightsGib or parameters")
        return self

    def shape(self, name: str, start: Shape) -> Shape:
        """Return the model.

        Args:
            name: Its name.
            start: The shape from its config.json or the known model; an empty shape without.
        """
        shape = replace(start, name=name, source=start.source or f"{KEY} of the settings")
        if self.weights_gib is not None:
            shape = replace(shape, weights_bytes=int(self.weights_gib * GIB))
        elif self.parameters is not None or self.dtype is not None:
            shape = replace(shape, weights_bytes=None)
        if self.layers and self.kv_heads and self.head_dim:
            shape = replace(shape, layers=(Layers(self.layers, self.kv_heads, self.head_dim, self.head_dim),))
        overrides = {"parameters": self.parameters, "dtype": self.dtype, "heads": self.heads}
        overrides["max_context"] = self.max_context
        return replace(shape, **{key: value for key, value in overrides.items() if value is not None})  # type: ignore[arg-type]


def known_shapes(models: Mapping[str, ShapeSettings], file: str, read: Read | None) -> KnownShapes:
    """Return the shapes that an environment describes, with the problems of their files.

    Args:
        models: The settings, by the name that servers load.
        file: File of the settings, for messages.
        read: Reads a file; None if files must not be read: then models with ``config`` stay unknown.
    """
    own, problems = dict[str, OwnShape](), list[Problem]()
    for name, settings in models.items():
        if settings.config is not None and read is None:
            continue
        try:
            start = _start(settings, name, read)
        except _UnusableError as error:
            key, reason = error.args
            step = field_path([name])
            path = f"{KEY}{step if step.startswith('[') else f'.{step}'}.{key}"
            problems.append(Problem(file=file, path=path, reason=reason, rule=RuleId.SETTINGS))
            continue
        own[name] = OwnShape(settings.shape(name, start), is_sized=settings.weights_gib is not None)
    return KnownShapes(own, tuple(problems))


class _UnusableError(Exception):
    """A key of the settings that cannot be used, and the reason."""


def _start(settings: ShapeSettings, name: str, read: Read | None) -> Shape:
    if settings.like is not None:
        known = shape_of(settings.like)
        if known is None:
            hint = did_you_mean(settings.like, shapes()) or "; set config, or layers, kvHeads and headDim"
            raise _UnusableError("like", f"unknown model {settings.like!r}{hint}")
        return known
    return Shape(name) if settings.config is None or read is None else _of_file(settings.config, name, read)


def _of_file(path: str, name: str, read: Read) -> Shape:
    try:
        return read_config(read(path), name)
    except OSError as error:
        raise _UnusableError(
            "config", f"{path} cannot be read: {error.strerror or error}; correct the path"
        ) from None
    except UnicodeDecodeError:
        raise _UnusableError("config", f"{path} is not a text file; set it to the config.json of the model") from None
    except ValueError as error:
        raise _UnusableError("config", f"{path}: {error}") from None
