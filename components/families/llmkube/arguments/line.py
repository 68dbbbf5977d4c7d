"""A command line while it is written: flags as the image's version spells them, checked as they are added."""

from collections.abc import Iterable

from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.flags.rows import ENUM, Flag
from ....engines.flags.tables import CLAP, EngineFlags, flags_of, successor
from ....engines.flags.tables import arguments as spelled
from ....engines.images import parse_image
from ....engines.lint import report_findings
from ....engines.registry import engine_of
from ....engines.settings import Setting
from ....engines.versions import ANY, engine_title
from ..serving import Serving
from ..types.inference_service import InferenceServiceSpec
from .facts import flag_of, successor_of

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
        self._known = table.version(serving.tag)
        # What is written must be in some spelling: that of the newest where the version is not known.
        self._version = self._known or None
        self._start = CommandLine(serving.runtime, serving.tag, (), self.spec.command or ())
        self._extra = self._start.continued(self.spec.extra_args or ())

    @property
    def spec(self) -> InferenceServiceSpec:
        """The spec of the InferenceService."""
        return self._serving.service.spec

    def flag(self, setting: Setting) -> str:
        """Return the runtime's flag for a setting."""
        return flag_of(self._serving.runtime, setting)

    def off(self, setting: Setting) -> str:
        """Return the flag that turns a setting off."""
        found = self._flag(self.flag(setting))
        if found is None or found.off is None:
            raise LookupError(f"nothing turns {setting} off with runtime {self._serving.runtime!r}")
        return found.off

    def put(self, setting: Setting, *values: str) -> None:
        """Add a setting as it is: once per value."""
        for value in values:
            self.args += (self.flag(setting), value)

    def add(self, setting: Setting, value: object, path: str, *, custom: bool = False) -> None:
        """Add a setting and its value, if there is one.

        Args:
            setting: What is set; the version in the image's tag decides how it is written.
            value: None adds nothing.
            path: Field that says so.
            custom: The field takes what the engine may not know: a value unknown to it is a warning.
        """
        if value is None:
            return
        flag = self.flag(setting)
        right = self._check_known(flag, path)
        if right:
            self._check_value(right, str(value), path, custom=custom)
        self._check_once(flag, path)
        self._serving.fields[setting] = path
        self.args += spelled(self._table.engine.name, flag, str(value), self._serving.tag)

    def switch(self, setting: Setting, path: str, *, on: bool | None) -> None:
        """Add a flag without a value, if it is on."""
        if on:
            self._switch(self.flag(setting), path)

    def turn_off(self, setting: Setting, path: str) -> None:
        """Add the flag that turns a setting off."""
        self._switch(self.off(setting), path)

    def listen(self, port: int) -> None:
        """Let the server listen where its Service and its probes ask."""
        other = self.written(Setting.PORT)
        if other:
            reason = f"{other} makes the server listen on another port than its Service and probes use ({port})"
            self._serving.findings.error(EXTRA, f"{reason}; remove it and set containerPort", RuleId.FLAGS_RESERVED)
        self.put(Setting.PORT, str(port))

    def finish(self) -> CommandLine:
        """Return what the container is started with, the user's own arguments last, once those are checked too."""
        own = CommandLine(self._start.engine, self._start.tag, self.args, self._start.command)
        whole = own.followed_by(self._extra)
        report_findings(self._serving.findings, EXTRA, whole, skip=len(self.args))
        return whole

    def knows(self, setting: Setting) -> bool:
        """Tell whether the version in the image's tag may know a setting."""
        found = self._flag(self.flag(setting))
        return found is not None and found.span.includes(self._version)

    def takes_value(self, setting: Setting) -> bool:
        """Tell whether the flag of a setting takes a value in the version of the image's tag."""
        found = self._flag(self.flag(setting))
        return found is not None and found.form_in(self._version).takes_value

    def written(self, *settings: Setting) -> str | None:
        """Return how ``extraArgs`` writes one of some settings, on or off, in any spelling; None where not."""
        return self._written(*map(self.flag, settings))

    def refuse(self, path: str, reason: str) -> None:
        """Record what the engine's own image refuses: an error there, a warning for an image of one's own.

        It is a warning too where the version is not known.
        """
        engine = engine_of(parse_image(self._serving.image).repository)
        if engine is not None and engine.name == self._serving.runtime and self._known != ANY:
            self._serving.findings.error(path, reason, RuleId.FLAGS_UNSUPPORTED)
        else:
            self._serving.findings.warn(
                path, f"{reason}, unless this image is built differently", RuleId.FLAGS_UNSUPPORTED
            )

    def _switch(self, flag: str, path: str) -> None:
        self._check_known(flag, path)
        self._check_once(flag, path)
        self.args.append(flag)

    def _written(self, *flags: str) -> str | None:
        return self._extra.word_of(*(name for flag in flags for name in self._names(flag)))

    def _check_known(self, flag: str, path: str) -> Flag | None:
        """Return the flag as the version has it; None after reporting one that the version does not know."""
        right = self._flag(self._right(flag))
        if right is not None and not right.span.includes(self._version):
            self.refuse(
                path, f"{self._image()} does not support {right.name}; use a newer image, or remove the field"
            )
            return None
        return right

    def _check_value(self, right: Flag, value: str, path: str, *, custom: bool) -> None:
        form = right.form_in(self._version)
        choice = form.choice(value)
        if form.type != ENUM or (choice.span.includes(self._known) if choice else form.open):
            return
        instead = successor_of(value) or f"one of {', '.join(form.allowed(self._version))}"
        reason = f"{right.name} of {self._image()} does not accept {value!r}; use {instead}"
        if custom or form.open:
            self._serving.findings.warn(
                path, f"{reason}, unless this image is built differently", RuleId.FLAGS_MALFORMED
            )
        else:
            self.refuse(path, reason)

    def _check_once(self, flag: str, path: str) -> None:
        other = self._written(flag)
        # What a server refuses to take twice is found among the extra arguments.
        if other and self._table.style != CLAP:
            where = f"{other} here" if path == EXTRA else f"{EXTRA} contains {other}, which"
            self._serving.findings.warn(
                path, f"{where} comes last and overrides {flag}; remove one of the two", RuleId.FIELD_OVERRIDDEN
            )

    def _names(self, flag: str) -> Iterable[str]:
        """Return every spelling of a flag, and of what the version has in its place."""
        found = (self._flag(flag), self._flag(self._right(flag)))
        return (name for each in found if each for name in each.names)

    def _right(self, flag: str) -> str:
        """Return a flag as the version in the image's tag spells it."""
        return successor(self._table.engine.name, flag, self._serving.tag)

    def _flag(self, name: str) -> Flag | None:
        return self._table.find(name)

    def _image(self) -> str:
        runtime, tag = self._serving.runtime, self._serving.tag
        return engine_title(runtime, tag) if self._known == ANY else f"{runtime} ({tag or 'newest version'})"
