"""Words of the engines' tables that reports may show (:mod:`components.contract.texts.harmless`)."""

import functools
import re
from collections.abc import Iterator

from ..contract.tables import load_table
from ..contract.texts.vocabulary import Vocabulary
from .draining import is_hook_script
from .flags.rows import ENUM, NUMBERS
from .flags.tables import EngineFlags, flags_of
from .groups import is_group_script
from .memory_settings.table import memory_settings_table
from .registry import engines

_ONE_LETTER = len("-p")


@functools.cache
def vocabulary() -> Vocabulary:
    """Return the flags, variables and programs of all engines."""
    names = frozenset(_variables())
    pattern = re.compile("|".join(load_table(__package__, "variables.yaml")["patterns"]))
    words = frozenset(word for engine in engines().values() for word in engine.programs)
    return Vocabulary(
        is_variable=lambda name: name in names or pattern.fullmatch(name) is not None,
        accepts=_accepts,
        most_values=_most_values,
        is_script=lambda text: is_hook_script(text) or is_group_script(text),
        words=words,
    )


def _variables() -> Iterator[str]:
    for name in engines():
        table = memory_settings_table(name)
        if table is None:
            continue
        for variables in table.variables.values():
            yield from variables
        yield from table.unclear_variables
        if table.longer_context:
            yield table.longer_context.variable


def _accepts(flag: str, text: str) -> bool | None:
    """Whether an engine with this flag accepts a value; None if no engine has the flag."""
    found = [known for table in _tables() if (known := table.find(flag)) is not None]
    if len(flag) == _ONE_LETTER:
        # Other programs have such flags too: docker login -p.
        found = [known for known in found if known.form.type == ENUM and known.form.choice(text) is not None]
    if not found:
        return None
    return any(
        known.form.type not in (ENUM, *NUMBERS) or known.form.choice(text) is not None or known.form.open
        for known in found
    )


def _most_values(flag: str) -> int | None:
    """Return how many words after a flag are its values: 0 or 1; None if it takes more, or is not known."""
    forms = [known.form for table in _tables() if (known := table.find(flag)) is not None]
    if not forms or len(flag) == _ONE_LETTER or any(form.nargs not in (None, 1, "?") for form in forms):
        return None
    return int(any(form.takes_value for form in forms))


@functools.cache
def _tables() -> tuple[EngineFlags, ...]:
    return tuple(table for name in engines() if (table := flags_of(name)) is not None)
