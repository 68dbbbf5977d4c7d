"""The inference engines: each is a folder of this package with tables only.

``engine.yaml`` describes an engine; ``flags.yaml`` its flags by version (:mod:`.flags`), without which its arguments
are not checked; ``metrics.yaml`` the metrics that it exports (:mod:`.metrics`); ``served.yaml`` model names and
adapters (:mod:`.served`); ``pairs.yaml`` the KV cache transfer (:mod:`.pairs`). The columns of ``engine.yaml``:

    rank: position in lists of engines; those without a rank come last.
    images: repositories of its images, in any registry.
    derived: repositories of other projects whose images start the engine. Their tags are not its versions.
    current: the image of the edition "current" by hardware: cpu, or the vendor of accelerators. The first one is the
      default for unknown hardware.
    programs: names of the programs and Python modules that parse its flags.
    other_tags: prefixes of tags whose image starts another program.
    builds: whether versions are build numbers, as in the tag b6500.
    floating: words in tags that follow the newest version; "latest" by default.
    frozen: the last version in a repository that is no longer updated.
    hardware: what tags start with if the image is for some hardware: ``cpu`` of cpu-1.8. Longer ones come first.
    moved: the last release of tags that are moved to newer ones, such as 1.8, by the tag.
    port: default port of the image. health: path that responds once it can serve.
    settings: its flags for each :class:`.Setting`; of several, the first one is added to command lines, and all are
      searched for. All spellings of each are in flags.yaml, if there is one.
    features: spans of versions (:class:`.Feature`).
    groups: how the pods of a replica are joined (:mod:`.groups`).
    lacks: programs that scripts call and the image does not have: name, the versions without it, and why.
    finishes: seconds that requests in progress have after SIGTERM: 0 if they are aborted; missing if there is no
      limit, or if it is unknown. The setting ``shutdown_timeout`` replaces it.
    key_variables: variables that set the key of requests, as the setting ``api_key`` does (vllm/envs.py,
      router/src/main.rs of TGI, common/arg.cpp of llama.cpp).
    started: subcommand that the entrypoint of its images contains, or does not know: arguments do not begin with it.
    own_code_variable: variable for the setting ``own_code``.
    variables: environment variables that only some versions read, each with the span of these, and ``instead``, the
      flag in its place.
    user: the user that the image can run as (:mod:`.users`).
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from ..contract.tables import read_table
from ..contract.texts.vocabulary import Vocabulary, register_vocabulary
from .images import Image, is_one_of, parse_image
from .settings import Feature, Setting
from .users import ImageUser
from .versions import Version, VersionSpan, format_version, version_of, without_version

FOLDERS: list[Traversable] = [files(__package__)]
"""Search path of engines: every subfolder with an ``engine.yaml`` is one."""
_LAST = 1000
_PIN = re.compile(r"20\d{6}|(?=.*\d)[0-9a-f]{7,40}")
"""A date or a commit in a tag."""
_BUILD = re.compile(r"(?<![^-])b\d+$")
"""The build in a tag of llama.cpp, such as ``server-cuda-b6500``."""
PYTHON = re.compile(r"python[\d.]*")
"""The interpreter, which may run an engine as a module."""
Flags = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """An inference engine; the attributes are the columns of its table.

    Attributes:
        folder: The folder of its tables.
        demonstrations: Those of its programs that have neither the OpenAI API nor metrics.
        groups: Rows of the ways to join pods.
        lacks: Rows of programs that the image lacks.
        moved: The releases of tags that are moved.
    """

    name: str
    folder: Traversable
    images: tuple[str, ...]
    derived: tuple[str, ...] = ()
    rank: int = _LAST
    current: Mapping[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    demonstrations: tuple[str, ...] = ()
    other_tags: tuple[str, ...] = ()
    builds: bool = False
    floating: tuple[str, ...] = ("latest",)
    frozen: Mapping[str, str] = field(default_factory=dict)
    hardware: tuple[str, ...] = ()
    moved: Mapping[str, Version] = field(default_factory=dict)
    port: int | None = None
    health: str = ""
    settings: Mapping[Setting, Flags] = field(default_factory=dict)
    features: Mapping[Feature, VersionSpan] = field(default_factory=dict)
    groups: tuple[Mapping[str, Any], ...] = ()
    lacks: tuple[Mapping[str, Any], ...] = ()
    finishes: float | None = None
    key_variables: tuple[str, ...] = ()
    started: str = ""
    own_code_variable: str = ""
    variables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    user: ImageUser | None = None

    def flag(self, setting: Setting) -> str | None:
        """Return the flag for a setting; None if the engine has none."""
        flags = self.settings.get(setting)
        return flags[0] if flags else None

    def version(self, tag: str) -> Version | None:
        """Return the version in an image tag; None for the newest, ``ANY`` if the version is unknown."""
        if self.hardware:
            tag = tag.removeprefix(f"{self.edition(tag)}-")
            release = self.moved.get(tag.partition("-")[0])
            if release is not None:
                return release
        return version_of(tag, builds=self.builds)

    def edition(self, tag: str) -> str:
        """Return the hardware that a tag starts with; empty without one."""
        return next((name for name in self.hardware if tag.startswith(f"{name}-")), "")

    def release(self, version: Version) -> str:
        """Return a build, or a version with at least three numbers, as the tags of the images have."""
        if self.builds:
            return format_version(version, builds=True)
        return format_version((*version, *(0,) * (3 - len(version))))

    def release_tag(self, version: Version, tag: str) -> str:
        """Return the tag of a release, for the hardware of another tag."""
        written = self.release(version)
        if self.builds:
            return _BUILD.sub(written, tag) if _BUILD.search(tag) else f"server-cuda-{written}"
        if self.hardware:
            return "-".join(filter(None, (self.edition(tag), written)))
        current = self.current_image
        return written if current and current.tag[:1].isdecimal() else f"v{written}"

    def has(self, feature: Feature, tag: str) -> bool:
        """Return whether the version in an image tag has a feature; an unknown version counts as the newest."""
        span = self.features.get(feature)
        return span is not None and span.includes(self.version(tag) or None)

    @functools.cache  # noqa: B019  engines are singletons
    def version_tag(self, repository: str, tag: str, *, declared: bool = False) -> str:
        """Return the tag if it contains the engine's version, which not every number in a tag is.

        A number is the version in the engine's own repository, its mirrors, and repositories named like the engine
        (``example.com/vllm:0.8.2``). Tags of other images may contain the engine's name (``1.4-vllm0.8.2``). For a
        repository that is no longer updated, a floating tag means its last version: ``server`` of
        ``ghcr.io/ggerganov/llama.cpp`` is ``server-b4719``. Tags with a date or a commit, such as
        ``nightly-20260605-7dc7376``, and all other tags are marked as having no version.

        Args:
            repository: Repository of the image.
            tag: Its tag.
            declared: Whether the user declares the tag to be the engine's version.
        """
        own = is_one_of(repository, self.images)
        named = repository.rpartition("/")[2] in self._names and not is_one_of(repository, self.derived)
        if self.version(tag) is not None and (own or declared or named):
            return tag
        names = "|".join(map(re.escape, self._names))
        written = re.search(rf"(?:^|[-_.])(?:{names})[-_]?(v?[0-9.]+|b[0-9]+)(?=[-_]|$)", tag)
        if written and self.version(written[1]) is not None:
            return written[1]
        if not own:
            return without_version(tag)
        last = next((last for known, last in self.frozen.items() if is_one_of(repository, (known,))), "")
        words = {*tag.split("-")}
        # A build of a day or of a commit is no release, and it stays while the newest version goes on.
        is_pinned = any(_PIN.fullmatch(word) for word in words)
        if last or not tag or not (is_pinned or words.isdisjoint(self.floating)):
            return "-".join(filter(None, (tag, last)))
        return without_version(tag)

    @property
    def _names(self) -> tuple[str, ...]:
        """Names of the engine's images."""
        return (self.name, *(image.rpartition("/")[2] for image in self.images))

    @property
    def current_image(self) -> Image | None:
        """The image of the edition "current" for unknown hardware."""
        return next(map(parse_image, self.current.values()), None)


def folders() -> tuple[Traversable, ...]:
    return tuple(FOLDERS)


def engines() -> Mapping[str, Engine]:
    """Return the known engines by name, in order of rank."""
    return _engines(folders())


def engine_of(repository: str) -> Engine | None:
    """Return the engine of an image by its repository; None if unknown."""
    return _engine_of(folders(), repository)


def engine_started_by(repository: str) -> Engine | None:
    """Return the engine that an image starts, also one of another project; None if unknown."""
    derived = (engine for engine in engines().values() if is_one_of(repository, engine.derived))
    return engine_of(repository) or next(derived, None)


def engine_of_program(words: Sequence[object]) -> Engine | None:
    """Return the engine whose program a command runs, regardless of the image; None without one."""
    first = str(words[0]).rpartition("/")[2] if words else ""
    if PYTHON.fullmatch(first):
        module = words.index("-m") + 1 if "-m" in words else len(words)
        first = "".join(map(str, words[module : module + 1]))
    return _by_program(folders()).get(first)


def default_flags(setting: Setting) -> Flags:
    """Return the most common flags for a setting, which are used for unknown engines."""
    return _usual().get(setting, ())


@functools.cache
def _by_program(folders: tuple[Traversable, ...]) -> Mapping[str, Engine]:
    return {program: engine for engine in reversed([*_engines(folders).values()]) for program in engine.programs}


@functools.cache
def _engines(folders: tuple[Traversable, ...]) -> Mapping[str, Engine]:
    entries = [entry for folder in folders for entry in folder.iterdir() if entry.joinpath("engine.yaml").is_file()]
    known = sorted(map(_engine, entries), key=lambda engine: (engine.rank, engine.name))
    return MappingProxyType({engine.name: engine for engine in known})


@functools.lru_cache(maxsize=4096)
def _engine_of(folders: tuple[Traversable, ...], repository: str) -> Engine | None:
    return next((e for e in _engines(folders).values() if is_one_of(repository, e.images)), None)


def _engine(folder: Traversable) -> Engine:
    facts: dict[str, Any] = dict(read_table(folder.joinpath("engine.yaml")))
    facts |= {
        name: tuple(facts.get(name, ()))
        for name in (
            "images",
            "derived",
            "programs",
            "demonstrations",
            "other_tags",
            "groups",
            "lacks",
            "key_variables",
            "hardware",
        )
    }
    if "floating" in facts:
        facts["floating"] = tuple(facts["floating"])
    facts["moved"] = {tag: tuple(release) for tag, release in facts.get("moved", {}).items()}
    facts["settings"] = _settings(facts)
    facts["features"] = {Feature(name): VersionSpan.from_row(row) for name, row in facts.get("features", {}).items()}
    if "user" in facts:
        facts["user"] = ImageUser.of(facts["user"], facts["images"])
    return Engine(name=folder.name, folder=folder, **facts)


def _settings(facts: Mapping[str, Any]) -> Mapping[Setting, Flags]:
    rows: Mapping[str, str | list[str]] = facts.get("settings", {})
    return {Setting(name): (row,) if isinstance(row, str) else tuple(row) for name, row in rows.items()}


@functools.cache
def _usual() -> Mapping[Setting, Flags]:
    return _settings(read_table(files(__package__).joinpath("usual.yaml")))


def _vocabulary() -> Vocabulary:
    # Only reports need it, and it reads all tables of flags.
    from .vocabulary import vocabulary

    return vocabulary()


register_vocabulary(_vocabulary)
