"""The command, arguments and environment with which the container of an InferenceService starts."""

from dataclasses import dataclass, field

from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.settings import Setting
from ....fleet.arguments import check_line
from ....fleet.objects import Object
from ..facts import llmkube
from ..serving import ServiceContext
from ..types.model import GPUSpec
from ..types.runtimes import PersonaPlexConfig
from .facts import flag_of, modes, readings
from .line import token_env
from .llamacpp import llamacpp_line, llamacpp_router_line
from .sglang import sglang_env, sglang_line
from .tgi import tgi_env, tgi_line
from .vllm import vllm_env, vllm_line


@dataclass(frozen=True, slots=True)
class StartCommand:
    """How a runtime is started.

    Attributes:
        line: Command and arguments, one item per flag and value; without a command, the image's own runs.
        env: Variables that the runtime needs, in wire form; ``spec.env`` follows them.
    """

    line: CommandLine
    env: list[Object] = field(default_factory=list)


def start_command(serving: ServiceContext) -> StartCommand:
    """Return the start command of the container; problems are in the findings."""
    match serving.runtime:
        case "llamacpp":
            command = StartCommand(llamacpp_line(serving))
        case "llamacpp-router":
            command = StartCommand(llamacpp_router_line(serving))
        case "sglang":
            command = StartCommand(sglang_line(serving), sglang_env(serving))
        case "vllm":
            command = StartCommand(vllm_line(serving), vllm_env(serving))
        case "tgi":
            command = StartCommand(tgi_line(serving), tgi_env(serving))
        case "personaplex":
            command = _personaplex(serving)
        case _:  # generic: the user's own server, for which nothing is generated (LLMKube spec 2.5)
            spec = serving.service.spec
            line = CommandLine(serving.engine, serving.tag, spec.args or (), spec.command or ())
            check_line(line, serving.image, "spec.args", serving.findings)
            command = StartCommand(line)
    _warn_about_ignored_fields(serving)
    return command


def _personaplex(serving: ServiceContext) -> StartCommand:
    """Return the start command of PersonaPlex, a speech-to-speech server (LLMKube spec 2.4)."""
    spec, runtime, path = serving.service.spec, serving.runtime, "spec.personaPlexConfig"
    config = spec.persona_plex_config or PersonaPlexConfig()
    args = [flag_of(runtime, Setting.CERTIFICATES), "/app/ssl"]
    if config.quantize4_bit:
        flag = flag_of(runtime, Setting.FOUR_BITS)
        args.append(flag)
        serving.findings.warn(
            f"{path}.quantize4Bit",
            f"requires an image whose server supports {flag}, which NVIDIA's own does not; make sure that yours does",
            RuleId.FLAGS_UNKNOWN,
        )
    if config.cpu_offload:
        args.append(flag_of(runtime, Setting.OFFLOADING))
    if serving.port != llmkube().runtimes[runtime].port:
        args += (flag_of(runtime, Setting.PORT), str(serving.port))
    command = spec.command or ("/app/moshi/.venv/bin/python", "-m", "moshi.server")
    token = token_env(serving, "HF_TOKEN", config.hf_token_secret_ref, f"{path}.hfTokenSecretRef")
    # Without compilation the server starts at once.
    env = [*token, {"name": "NO_TORCH_COMPILE", "value": "1"}]
    return StartCommand(CommandLine(runtime, serving.tag, args, command), env)


def _check_mode(serving: ServiceContext) -> None:
    """Warn of a mode for which the runtime has no flags."""
    mode = serving.service.spec.mode
    runtimes = modes().get(mode or "")
    if runtimes is not None and serving.runtime not in runtimes:
        reason = (
            f"{mode} has no effect: runtime {serving.runtime} decides by the model what it serves; remove it, "
            "and use extraArgs if the server needs a flag"
        )
        serving.findings.warn("spec.mode", reason, RuleId.FIELD_NO_EFFECT)


def _warn_about_ignored_fields(serving: ServiceContext) -> None:
    """Warn of fields of the service and its Model that the chosen runtime ignores: none is dropped silently."""
    fields = serving.service.spec.wire()
    for name, reading in readings().items():
        if fields.get(name) in (None, [], {}) or serving.runtime in reading.runtimes:
            continue
        other = reading.instead.get(serving.runtime)
        remedy = f"use {other} instead" if other else "remove it"
        readers = " and ".join(reading.runtimes)
        reason = f"has no effect: runtime {serving.runtime} does not read it, only {readers} would; {remedy}"
        serving.findings.warn(f"spec.{name}", reason, RuleId.FIELD_NO_EFFECT)
    _check_mode(serving)
    if serving.runtime == "llamacpp":
        return
    if serving.model.spec.mmproj:
        serving.findings.warn(
            "spec.modelRef",
            f"mmproj of Model {serving.model.metadata.name!r} has no effect: runtime {serving.runtime} does not read "
            "it, only llamacpp would; remove it there",
            RuleId.FIELD_NO_EFFECT,
        )
    hardware = serving.model.spec.hardware
    gpu = (hardware.gpu if hardware else None) or GPUSpec()
    for name, value in (("layers", gpu.layers), ("sharding", gpu.sharding)):
        if value is not None:
            serving.findings.warn(
                "spec.modelRef",
                f"hardware.gpu.{name} of Model {serving.model.metadata.name!r} has no effect: runtime "
                f"{serving.runtime} does not read it, only llamacpp would; remove it there",
                RuleId.FIELD_NO_EFFECT,
            )
