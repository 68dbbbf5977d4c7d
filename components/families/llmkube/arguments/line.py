"""Build a command line from settings, spelled for the image's version and checked as they are added."""

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

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
from ....fleet.objects import Object
from ..serving import ServiceContext
from ..types.inference_service import InferenceServiceSpec
from ..weights import revision_of
from .facts import flag_of, successor_of

EXTRA = "spec.extraArgs"
BIND = "spec.bindAddress"


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address == "localhost"


def token_env(serving: ServiceContext, name: str, secret: Mapping[str, Any] | None, path: str) -> list[Object]:
    """Return the variable with the Hugging Face token from a Secret; none without a reference."""
    if secret is None:
        return []
    if not secret.get("name"):
        serving.findings.error(
            f"{path}.name", "must name a Secret in this namespace, found none; set it", RuleId.REFERENCE_MISSING
        )
    return [{"name": name, "valueFrom": {"secretKeyRef": dict(secret)}}]


class Line:
    """The arguments of one container.

    ``spec.extraArgs`` comes last; a flag in it that a field sets too is reported at that field.
    """

    def __init__(self, serving: ServiceContext, command: Sequence[str] = ()) -> None:
        """Start a line for a runtime whose flags are known.

        Args:
            serving: The service.
            command: The command of the runtime; without one, the image's own runs.

        Raises:
            LookupError: There is no table of the runtime's flags.
        """
        table = flags_of(serving.program)
        if table is None:
            raise LookupError(f"no table of flags for runtime {serving.runtime!r}")
        self.args: list[str] = []
        self._serving = serving
        self._table: EngineFlags = table
        self._known = table.version(serving.tag)
        # Flags must be spelled for some version: the newest if the version is unknown.
        self._version = self._known or None
        self._start = CommandLine(serving.program, serving.tag, (), self.spec.command or command)
        self._extra = self._start.continued(self.spec.extra_args or ())

    @property
    def spec(self) -> InferenceServiceSpec:
        """The spec of the InferenceService."""
        return self._serving.service.spec

    def flag(self, setting: Setting) -> str:
        """Return the runtime's flag for a setting."""
        return flag_of(self._serving.program, setting)

    def off(self, setting: Setting) -> str:
        """Return the flag that turns a setting off."""
        flag = self._flag(self.flag(setting))
        if flag is None or flag.off is None:
            raise LookupError(f"nothing turns {setting} off with runtime {self._serving.runtime!r}")
        return flag.off

    def put(self, setting: Setting, *values: str) -> None:
        """Add a setting without checks, once per value."""
        for value in values:
            self.args += (self.flag(setting), value)

    def add(self, setting: Setting, value: object, path: str, *, custom: bool = False) -> None:
        """Add a setting unless its value is None.

        Args:
            setting: The setting; the version in the image's tag decides its flag.
            value: Its value.
            path: Field that states it.
            custom: Whether the field accepts custom values: an unknown value is then a warning.
        """
        if value is None:
            return
        flag = self.flag(setting)
        supported = self._check_known(flag, path)
        if supported:
            self._check_value(supported, str(value), path, custom=custom)
        self._check_once(flag, path)
        self._serving.fields[setting] = path
        self.args += spelled(self._table.engine.name, flag, str(value), self._serving.tag)

    def add_all(self, setting: Setting, values: Sequence[str], path: str) -> None:
        """Add a setting with several values behind one flag; nothing without values."""
        if not values:
            return
        flag = self.flag(setting)
        self._check_known(flag, path)
        self._check_once(flag, path)
        self._serving.fields[setting] = path
        self.args += (flag, *values)

    def bind(self, path: str = "") -> None:
        """Add the address on which the server listens: the field's, or else every IPv4 address.

        Args:
            path: Field at which to report the default if ``extraArgs`` has an address too; empty not to report it.
        """
        address = self.spec.bind_address
        if not address:
            default = "0.0.0.0"  # noqa: S104  a pod listens for its Service
            if path:
                self.add(Setting.HOST, default, path)
            else:
                self.put(Setting.HOST, default)
            return
        if _is_loopback(address):
            reason = f"{address} is reachable inside the pod only, not by its Service and probes; use :: or 0.0.0.0"
            self._serving.findings.error(BIND, reason, RuleId.FLAGS_RESERVED)
        self.add(Setting.HOST, address, BIND)

    def add_revision(self) -> None:
        """Add the revision of the repository that the server itself fetches, if the Model names one."""
        revision = revision_of(self._serving.model.spec.source)
        if revision and not self._serving.model_path:
            self.add(Setting.MODEL_REVISION, revision, "spec.modelRef")

    def add_slots(self) -> None:
        """Add ``spec.parallelSlots`` unless ``extraArgs`` sets the number of concurrent requests."""
        slots, other = self.spec.parallel_slots, self.written(Setting.CONCURRENCY)
        if slots is not None and other:
            self._serving.findings.warn(
                "spec.parallelSlots",
                f"is omitted, because {EXTRA} contains {other}; remove one of the two",
                RuleId.FIELD_OVERRIDDEN,
            )
        else:
            self.add(Setting.CONCURRENCY, slots, "spec.parallelSlots")

    def switch(self, setting: Setting, path: str, *, on: bool | None) -> None:
        """Add a flag without a value, if it is on."""
        if on:
            self._switch(self.flag(setting), path)

    def turn_off(self, setting: Setting, path: str) -> None:
        """Add the flag that turns a setting off."""
        self._switch(self.off(setting), path)

    def listen(self, port: int) -> None:
        """Set the port, which Service and probes use as well."""
        other = self.written(Setting.PORT)
        if other:
            reason = f"{other} makes the server listen on another port than its Service and probes use ({port})"
            self._serving.findings.error(EXTRA, f"{reason}; remove it and set containerPort", RuleId.FLAGS_RESERVED)
        self.put(Setting.PORT, str(port))

    def finish(self) -> CommandLine:
        """Check the user's own arguments and return the command line that ends with them."""
        generated = CommandLine(self._start.engine, self._start.tag, self.args, self._start.command)
        line = generated.followed_by(self._extra)
        report_findings(self._serving.findings, EXTRA, line, skip=len(self.args))
        return line

    def knows(self, setting: Setting) -> bool:
        """Whether the version in the image's tag may have a setting."""
        flag = self._flag(self.flag(setting))
        return flag is not None and flag.span.includes(self._version)

    def takes_value(self, setting: Setting) -> bool:
        """Whether the flag of a setting takes a value in the version of the image's tag."""
        flag = self._flag(self.flag(setting))
        return flag is not None and flag.form_in(self._version).takes_value

    def written(self, *settings: Setting) -> str | None:
        """Return the flag in ``extraArgs`` for one of the settings, on or off, in any spelling; else None."""
        return self._written(*map(self.flag, settings))

    def refuse(self, path: str, reason: str) -> None:
        """Report a flag that the engine's own image rejects: an error if the version is known.

        It is a warning for other images, which may be built differently, and if the version is unknown.
        """
        engine = engine_of(parse_image(self._serving.image).repository)
        if engine is not None and engine.name == self._serving.program and self._known != ANY:
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
        # Users may spell a flag in any way, or as its successor in the version of the image's tag.
        spellings = (self._flag(name) for flag in flags for name in (flag, self._successor(flag)))
        return self._extra.word_of(*(name for spelling in spellings if spelling for name in spelling.names))

    def _check_known(self, flag: str, path: str) -> Flag | None:
        """Return the flag as the version has it; None after reporting one that the version does not support."""
        supported = self._flag(self._successor(flag))
        if supported is not None and not supported.span.includes(self._version):
            self.refuse(path, f"{self._image()} does not support {supported.name}; {self._newer(supported)}")
            return None
        return supported

    def _newer(self, flag: Flag) -> str:
        """Return what to do without a flag that the version does not have."""
        if not flag.span.is_before(self._version):
            return "remove the field"
        since, tag = flag.span.since, self._serving.tag
        newer = f"an image of {self._table.engine.release_tag(since, tag)} or later" if since else "a newer image"
        return f"use {newer}, or remove the field"

    def _check_value(self, supported: Flag, value: str, path: str, *, custom: bool) -> None:
        form = supported.form_in(self._version)
        choice = form.choice(value)
        successor = successor_of(value)
        # An open enum takes the values of plugins, but no released engine takes a value that has a successor.
        is_accepted = choice.span.includes(self._known) if choice else form.open and not successor
        if form.type != ENUM or is_accepted:
            return
        instead = successor or f"one of {', '.join(form.allowed(self._version))}"
        reason = f"{supported.name} of {self._image()} does not accept {value!r}; use {instead}"
        if custom or form.open:
            self._serving.findings.warn(
                path, f"{reason}, unless this image is built differently", RuleId.FLAGS_MALFORMED
            )
        else:
            self.refuse(path, reason)

    def _check_once(self, flag: str, path: str) -> None:
        other = self._written(flag)
        # The lint of extraArgs reports flags that a server rejects when repeated.
        if other and self._table.style != CLAP:
            subject = f"{other} here" if path == EXTRA else f"{EXTRA} contains {other}, which"
            self._serving.findings.warn(
                path, f"{subject} comes last and overrides {flag}; remove one of the two", RuleId.FIELD_OVERRIDDEN
            )

    def _successor(self, flag: str) -> str:
        """Return a flag as the version in the image's tag spells it."""
        return successor(self._table.engine.name, flag, self._serving.tag)

    def _flag(self, name: str) -> Flag | None:
        return self._table.find(name)

    def _image(self) -> str:
        runtime, tag = self._serving.program, self._serving.tag
        return engine_title(runtime, tag) if self._known == ANY else f"{runtime} ({tag or 'newest version'})"
