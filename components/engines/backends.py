"""The attention backends that an engine refuses for a model on some accelerators: ``backends.yaml`` in its folder.

variable: the environment variable that chooses a backend, in the versions that read it, beside the engine's flag.
kinds: kinds of attention, with a name and the architectures that have it.
rows: a backend, by its name, and a kind of attention; with from, absent, until.
  generations: major compute capabilities on which it computes that kind; without it, on none.
"""

import functools
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ..contract.tables import read_table
from .command_line import CommandLine
from .formats.rows import is_known
from .registry import Engine, engines
from .settings import Setting
from .versions import VersionSpan


class AttentionBackend(NamedTuple):
    """An attention backend that a server is configured to use.

    Attributes:
        name: Its name.
        variable: The environment variable that chooses it; empty if the flag does.
    """

    name: str
    variable: str = ""


def chosen_backend(line: CommandLine, variables: Mapping[str, str]) -> AttentionBackend | None:
    """Return the backend that a flag or an environment variable chooses; None without one."""
    engine, flag = engines().get(line.engine), line.value_of(Setting.ATTENTION_BACKEND)
    if engine is None or not (flag or variables) or not _read(engine):
        return None
    if flag:
        return AttentionBackend(flag.upper())
    variable = str(_read(engine)["variable"])
    span = VersionSpan.from_row(engine.variables.get(variable, {}))
    if variable not in variables or not is_known(span, engine.version(line.tag)):
        return None
    return AttentionBackend(variables[variable].upper(), variable)


def refused_attention(line: CommandLine, backend: str, architecture: str, capability: Decimal) -> str:
    """Return the kind of attention that a backend does not compute on an accelerator; empty if it starts."""
    engine = engines()[line.engine]
    facts = _read(engine)
    for row in facts["rows"]:
        kind = facts["kinds"][row["kind"]]
        is_meant = row["backend"] == backend and architecture in kind["architectures"]
        if not is_meant or int(capability) in row.get("generations", ()):
            continue
        if is_known(VersionSpan.from_row(row), engine.version(line.tag)):
            return str(kind["name"])
    return ""


@functools.cache
def _read(engine: Engine) -> Mapping[str, Any]:
    file = engine.folder.joinpath("backends.yaml")
    return read_table(file) if file.is_file() else {}
