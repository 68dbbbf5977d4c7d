"""Problems: the type in which every check reports what is wrong and where."""

import difflib
import enum
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from .findings.ids import RuleId
from .texts.printable import printable


class Severity(enum.StrEnum):
    """How serious a problem is."""

    ERROR = "error"
    """The resource cannot be used."""
    WARNING = "warning"
    """The resource works, but probably not as intended."""
    NOTE = "note"
    """Information about a decision that was made for the resource."""


class Owner(NamedTuple):
    """The resource that a problem belongs to; the settings of a file if there is no kind."""

    file: str
    kind: str
    name: str
    namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem of one object; line 0 if the position is unknown, no kind and name for settings."""

    file: str
    line: int = 0
    kind: str = ""
    name: str = ""
    path: str
    reason: str
    severity: Severity = Severity.ERROR
    rule: RuleId = RuleId.CONTRACT
    namespace: str = ""
    """As written in the manifest; empty if omitted."""
    ignored: str = ""
    """The reason for ignoring it; empty if it is not ignored."""

    def __post_init__(self) -> None:
        """Mask secrets and escape control characters: reasons quote text from manifests."""
        object.__setattr__(self, "reason", _clean(self.reason))
        if "[" in self.path or len(self.path) > _LONGEST_FIELD:
            object.__setattr__(self, "path", _clean_path(self.path))
        if self.ignored:
            object.__setattr__(self, "ignored", _clean(self.ignored))

    def __str__(self) -> str:
        subject = f"{self.kind}/{self.name}: " if self.kind else ""
        field = f"{self.path}: " if self.path else ""
        position = f"{self.file}:{self.line}" if self.line else self.file
        # Readers need the id to look the rule up and to ignore it; neither is possible for these rules.
        rule = "" if self.rule in _PLAIN else f" [{self.rule}]"
        return _clean(f"{position}: {subject}{field}") + self.reason + rule

    def as_dict(self) -> dict[str, str | int]:
        """Return the problem as plain JSON."""
        return {key: _clean(value) if isinstance(value, str) else value for key, value in asdict(self).items()}

    @property
    def owner(self) -> "Owner":
        """The resource or settings with the problem."""
        return Owner(self.file, self.kind, self.name, self.namespace)

    @property
    def is_error(self) -> bool:
        """Whether it prevents the use of the resource: errors that are not ignored do."""
        return self.severity == Severity.ERROR and not self.ignored

    @property
    def sort_key(self) -> tuple[str, int, str, str]:
        """Sort key: by file, then line, then field."""
        return (self.file, self.line, self.path, self.reason)


_LONGEST_FIELD = 20
"""Paths of a field that may name a key of a manifest, are longer or have brackets."""
_KEY = re.compile(r"(?P<before>\b(?:env|envs|\w+Envs?|envVars)\[\d+\])?\[(?P<key>[^\[\]]*)\]")
_NOT_IN_KEYS = re.compile(r"[\s'\"$;?<>(){}|\\]|://")
"""What no name has, but a script or an address."""
_PLAIN = (RuleId.CONTRACT, RuleId.SETTINGS)
"""Rules without an explanation of their own, which cannot be ignored."""


def _clean(text: str) -> str:
    # Imported here, because most manifests have no problems.
    from .texts.secrets import masked_text

    return printable(masked_text(text))


def _clean_path(path: str) -> str:
    """Hide the keys in a path that are secrets or no names: somebody may write a value in the place of a key."""
    from .texts.hidden import hidden
    from .texts.secrets import masked_text

    def shown(match: re.Match[str]) -> str:
        key = match["key"]
        if len(key) > 1 and key[0] == key[-1] == '"':  # a path may quote a key with dots
            key = key[1:-1]
        # The fields of a variable are words; a key with dashes or signs is a value in the wrong place.
        is_value = _NOT_IN_KEYS.search(key) or (match["before"] and not key.isdecimal())
        return f"{match['before'] or ''}[{hidden(key)}]" if is_value else match[0]

    return masked_text(_KEY.sub(shown, path))


def errors(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems that prevent the use of a manifest."""
    return tuple(p for p in problems if p.is_error)


def root_causes(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield distinct problems, without the warnings about fields that also have an error.

    A warning assumes that the value stays. If an error requires another value, its advice is often wrong, such as how
    to use a second GPU on a node that has one.
    """
    distinct = dict.fromkeys(problems)
    # Ignoring an error must not bring back the warnings that it replaced.
    wrong = {_field(problem) for problem in distinct if problem.severity is Severity.ERROR}
    return (problem for problem in distinct if problem.severity is Severity.ERROR or _field(problem) not in wrong)


def _field(problem: Problem) -> tuple[str, int, str, str, str, str] | Problem:
    """Return what identifies the field of a problem; a resource as a whole is no field."""
    if problem.path in _WHOLE:
        return problem
    return problem.file, problem.line, problem.kind, problem.namespace, problem.name, problem.path


_WHOLE = ("", "spec")
_STEP = re.compile(r"\[([^\]]*)\]|([^.\[]+)")


_LONGEST_WORD = 100
"""Comparing two words takes time proportional to the product of their lengths."""
_MOST_WORDS = 5000
SIMILAR = 0.6
"""Least similarity (difflib) of a name that is worth suggesting."""
_SHOWN = 5
"""Names that a message lists."""


def nearest_names(word: str, known: Iterable[str], count: int, similarity: float = SIMILAR) -> list[str]:
    """Return the most similar known names, the most similar first; never the word itself.

    The work is bounded, whatever the word and however many names there are.
    """
    if not word or len(word) > _LONGEST_WORD:
        return []
    lowered = {name.lower(): name for name in itertools.islice(known, _MOST_WORDS) if name != word}
    close = difflib.get_close_matches(word.lower(), lowered, n=count, cutoff=similarity)
    return [lowered[name] for name in close]


def nearest(word: str, known: Iterable[str], similarity: float = SIMILAR) -> str:
    """Return the most similar known name; empty if none is similar."""
    return next(iter(nearest_names(word, known, 1, similarity)), "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a message that suggests a known word; empty if none is similar."""
    near = nearest(word, known)
    return f"; did you mean {near!r}?" if near else ""


def near_or_some(word: str, known: Iterable[str], title: str, rest: str = "") -> str:
    """Return the end of a message that suggests a known word, or else lists some of them.

    Args:
        word: What was found.
        known: What is allowed.
        title: What the names are, such as ``known keys``.
        rest: Where all of them are listed, for lists that are too long for a message.
    """
    names = list(known)
    return did_you_mean(word, names) or f"; {title}: {some_of(names, rest)}"


def some_of(names: Sequence[str], rest: str = "") -> str:
    """Return names for a message: all of a few, else the first ones and where the rest is listed."""
    if len(names) <= _SHOWN + 1:
        return ", ".join(names)
    more = f" and {len(names) - _SHOWN} more"
    return ", ".join(names[:_SHOWN]) + more + (f" ({rest})" if rest else "")


MOST_HINTS = 50
"""Searching for similar names dominates the run time of a file with many unknown fields."""


class Hints:
    """Suggests similar names, up to a limit per object."""

    def __init__(self) -> None:
        self._left = MOST_HINTS

    def did_you_mean(self, word: str, known: Iterable[str]) -> str:
        """Return a suggestion; empty if none is similar or the limit is reached."""
        self._left -= 1
        return did_you_mean(word, known) if self._left >= 0 else ""


def field_path(parts: Iterable[str | int]) -> str:
    """Write a path as Kubernetes does: ``spec.envs[0].name``, ``limits[nvidia.com/gpu]``."""
    text = ""
    for part in parts:
        if isinstance(part, int) or not part.replace("_", "a").isalnum():
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def path_parts(path: str) -> list[str | int]:
    """Read a path written by :func:`field_path`."""
    parts: list[str | int] = []
    for bracketed, name in _STEP.findall(path):
        if name:
            parts.append(name)
        else:
            parts.append(int(bracketed) if bracketed.isdecimal() else bracketed)
    return parts
