"""What is known of each inference engine: a folder of this package each, which holds data alone.

``engine.yaml`` is what an engine is; ``flags.yaml`` its flags by version (:mod:`.flags`), without which its arguments
are not checked; ``metrics.yaml`` what it exports (:mod:`.metrics`). The columns of ``engine.yaml``:

    rank: place among the engines wherever several are listed; those without come last.
    images: repositories of its images, in whatever registry.
    current: the image of the edition "current" by hardware: cpu, or the vendor of accelerators. The first one is
      taken where the hardware is not known.
    programs: names of the programs and Python modules that take its flags.
    other_tags: how tags begin whose image starts something else.
    builds: whether a version is the number of a build, as in the tag b6500.
    frozen: the last version at an address of the image where nothing is published any more.
    port: where the image listens unless it is told otherwise. health: path that answers when it can serve.
    settings: its flags for what engines can be told (:class:`.Setting`); where several are given, the first one is
      written, and all of them are looked for. All spellings of each are in flags.yaml, if there is one.
    features: spans of versions (:class:`.Feature`).
    groups: how the pods of a replica are joined (:mod:`.groups`).
    user: as which user the image can run (:mod:`.users`).
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from ..api.tables import read_table
from .images import Image, image_of, is_one_of
from .settings import Feature, Setting
from .users import ImageUser
from .versions import Span, Version, version_of

FOLDERS: list[Traversable] = [files(__package__)]
"""Where engines are found: every folder in one of these that has an ``engine.yaml``."""
_LAST = 1000
Flags = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """An inference engine; the attributes are the columns of its table.

    Attributes:
        folder: Where its data is.
        groups: Rows of the ways to join pods.
    """

    name: str
    folder: Traversable
    images: tuple[str, ...]
    rank: int = _LAST
    current: Mapping[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    other_tags: tuple[str, ...] = ()
    builds: bool = False
    frozen: Mapping[str, str] = field(default_factory=dict)
    port: int | None = None
    health: str = ""
    settings: Mapping[Setting, Flags] = field(default_factory=dict)
    features: Mapping[Feature, Span] = field(default_factory=dict)
    groups: tuple[Mapping[str, Any], ...] = ()
    user: ImageUser | None = None

    def flag(self, setting: Setting) -> str | None:
        """Return the flag for a setting; None where the engine has none."""
        flags = self.settings.get(setting)
        return flags[0] if flags else None

    def version(self, tag: str) -> Version | None:
        """Return the version in an image tag; None, the newest, without."""
        return version_of(tag, builds=self.builds)

    def has(self, feature: Feature, tag: str) -> bool:
        """Tell whether the version in an image tag may have a feature."""
        span = self.features.get(feature)
        return span is not None and span.is_in(self.version(tag))

    def dated(self, repository: str, tag: str) -> str:
        """Return a tag that names the version, for one that names none at an address where it no longer moves.

        The tag ``server`` of ``ghcr.io/ggerganov/llama.cpp`` is ``server-b4719``: a tag of an address that is still
        published to stays as it is, and counts as the newest.
        """
        if not self.frozen or self.version(tag) is not None:
            return tag
        last = next((last for known, last in self.frozen.items() if is_one_of(repository, (known,))), None)
        return tag if last is None else "-".join(filter(None, (tag, last)))

    @property
    def current_image(self) -> Image | None:
        """The image of the edition "current" where the hardware is not known."""
        return next(map(image_of, self.current.values()), None)


def folders() -> tuple[Traversable, ...]:
    """Return where engines are found."""
    return tuple(FOLDERS)


def engines() -> Mapping[str, Engine]:
    """Return every known engine by name."""
    return _engines(folders())


def engine_of(repository: str) -> Engine | None:
    """Return the engine that an image holds, by its repository; None for an unknown one."""
    return _engine_of(folders(), repository)


def usual_flags(setting: Setting) -> Flags:
    """Return the flags that servers usually have for a setting, for an engine that nothing is known of."""
    return _usual().get(setting, ())


@functools.cache
def _engines(folders: tuple[Traversable, ...]) -> Mapping[str, Engine]:
    found = [entry for folder in folders for entry in folder.iterdir() if entry.joinpath("engine.yaml").is_file()]
    known = sorted(map(_engine, found), key=lambda engine: (engine.rank, engine.name))
    return MappingProxyType({engine.name: engine for engine in known})


@functools.lru_cache(maxsize=4096)
def _engine_of(folders: tuple[Traversable, ...], repository: str) -> Engine | None:
    return next((e for e in _engines(folders).values() if is_one_of(repository, e.images)), None)


def _engine(folder: Traversable) -> Engine:
    facts: dict[str, Any] = dict(read_table(folder.joinpath("engine.yaml")))
    facts |= {name: tuple(facts.get(name, ())) for name in ("images", "programs", "other_tags", "groups")}
    facts["settings"] = _settings(facts)
    facts["features"] = {Feature(name): Span.of(row) for name, row in facts.get("features", {}).items()}
    if "user" in facts:
        facts["user"] = ImageUser.of(facts["user"], facts["images"])
    return Engine(name=folder.name, folder=folder, **facts)


def _settings(facts: Mapping[str, Any]) -> Mapping[Setting, Flags]:
    rows: Mapping[str, str | list[str]] = facts.get("settings", {})
    return {Setting(name): (row,) if isinstance(row, str) else tuple(row) for name, row in rows.items()}


@functools.cache
def _usual() -> Mapping[Setting, Flags]:
    return _settings(read_table(files(__package__).joinpath("usual.yaml")))
