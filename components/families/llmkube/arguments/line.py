"""A command line while it is written: flags as the image's version spells them, checked as they are added."""

from collections.abc import Iterable

from ....engines.flags import CLAP, EngineFlags, flags_of, successor
from ....engines.flags import arguments as spelled
from ....engines.lint import report
from ....engines.registry import engine_of
from ....engines.rows import ENUM, Flag
from ..serving import Serving
from ..types.inference_service import InferenceServiceSpec
from .facts import successor_of

EXTRA = "spec.extraArgs"


class Line:
    """The arguments of one container.

    ``spec.extraArgs`` comes last: what is in there as well is reported with the field that says the same.
    """

    def __init__(self, serving: Serving) -> None:
        """Start a line for a runtime whose flags are known.

        Raises:
            LookupError: There is no table of the runtime's flags.
        """
        table = flags_of(serving.runtime)
        if table is None:
            raise LookupError(f"no table of flags for runtime {serving.runtime!r}")
        self.args: list[str] = []
        self._serving = serving
        self._table: EngineFlags = table
        self._version = table.version(serving.tag)
        self._extra = serving.service.spec.extra_args or []

    @property
    def spec(self) -> InferenceServiceSpec:
        """The spec of the InferenceService."""
        return self._serving.service.spec

    def add(self, flag: str, value: object, path: str, *, custom: bool = False) -> None:
        """Add a flag and its value, if there is one.

        Args:
            flag: Any spelling; the version in the image's tag decides which one is written.
            value: None adds nothing.
            path: Field that says so.
            custom: The field takes what the engine may not know: a value unknown to it is a warning.
        """
        if value is None:
            return
        right = self._check_known(flag, path)
        if right:
            self._check_value(right, str(value), path, custom=custom)
        self._check_once(flag, path)
        self.args += spelled(self._table.engine, flag, str(value), self._serving.tag)

    def switch(self, flag: str, path: str, *, on: bool | None) -> None:
        """Add a flag without a value, if it is on."""
        if on:
            self._check_known(flag, path)
            self._check_once(flag, path)
            self.args.append(flag)

    def listen(self, port: int) -> None:
        """Let the server listen where its Service and its probes ask."""
        other = self.written("--port")
        if other:
            reason = f"{other} makes the server listen on another port than its Service and probes use ({port})"
            self._serving.findings.error(EXTRA, f"{reason}; remove it and set containerPort")
        self.args += ("--port", str(port))

    def each(self, flag: str, values: Iterable[str] | None) -> None:
        """Add a flag once per value: the engine takes all of them."""
        for value in values or ():
            self.args += (flag, value)

    def finish(self) -> list[str]:
        """Return the arguments with the user's own behind them, once those are checked too."""
        whole, own = [*self.args, *self._extra], len(self.args)
        serving, command = self._serving, self.spec.command or ()
        report(serving.findings, EXTRA, serving.runtime, whole, serving.tag, command=command, skip=own)
        return whole

    def knows(self, flag: str) -> bool:
        """Tell whether the version in the image's tag may know a flag."""
        found = self._table.find(flag)
        return found is not None and found.span.is_in(self._version)

    def takes_value(self, flag: str) -> bool:
        """Tell whether a flag takes a value in the version of the image's tag."""
        found = self._table.find(flag)
        return found is not None and found.at(self._version).takes_value

    def written(self, *flags: str) -> str | None:
        """Return how ``extraArgs`` writes one of some flags, in any spelling of it; None where it does not."""
        names = {name for flag in flags for name in self._names(flag)}
        return next((arg for arg in self._extra if self._table.dashed(arg.partition("=")[0]) in names), None)

    def refuse(self, path: str, reason: str) -> None:
        """Record what the engine's own image refuses: an error there, a warning for an image of one's own."""
        repository = self._serving.image.partition("@")[0].removesuffix(f":{self._serving.tag}")
        engine = engine_of(repository)
        if engine is not None and engine.name == self._serving.runtime:
            self._serving.findings.error(path, reason)
        else:
            self._serving.findings.warn(path, f"{reason}, unless this image is built differently")

    def _check_known(self, flag: str, path: str) -> Flag | None:
        """Return the flag as the version has it; None after reporting one that the version does not know."""
        right = self._flag(self._right(flag))
        if right is not None and not right.span.is_in(self._version):
            self.refuse(
                path, f"{self._image()} does not support {right.name}; use a newer image, or remove the field"
            )
            return None
        return right

    def _check_value(self, right: Flag, value: str, path: str, *, custom: bool) -> None:
        form = right.at(self._version)
        choice = form.choice(value)
        if form.type != ENUM or (choice.span.is_in(self._version) if choice else form.open):
            return
        instead = successor_of(value) or f"one of {', '.join(form.allowed(self._version))}"
        reason = f"{right.name} of {self._image()} does not accept {value!r}; use {instead}"
        if custom or form.open:
            self._serving.findings.warn(path, f"{reason}, unless this image is built differently")
        else:
            self.refuse(path, reason)

    def _check_once(self, flag: str, path: str) -> None:
        other = self.written(flag)
        # What a server refuses to take twice is found among the extra arguments.
        if other and self._table.style != CLAP:
            where = f"{other} here" if path == EXTRA else f"{EXTRA} contains {other}, which"
            self._serving.findings.warn(path, f"{where} comes last and overrides {flag}; remove one of the two")

    def _names(self, flag: str) -> tuple[str, ...]:
        """Return every spelling of a flag, and of what the version has in its place."""
        found = (self._flag(flag), self._flag(self._right(flag)))
        return tuple(name for each in found if each for name in each.names)

    def _right(self, flag: str) -> str:
        """Return a flag as the version in the image's tag spells it."""
        return successor(self._table.engine, flag, self._serving.tag)

    def _flag(self, name: str) -> Flag | None:
        return self._table.find(name)

    def _image(self) -> str:
        return f"{self._serving.runtime} ({self._serving.tag or 'newest version'})"
