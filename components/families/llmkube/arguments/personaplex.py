"""Arguments of PersonaPlex, a speech-to-speech server (LLMKube spec 2.4)."""

from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.settings import Setting
from ....fleet.objects import Object
from ..facts import llmkube
from ..serving import Serving
from ..types.runtimes import PersonaPlexConfig
from .facts import flag_of
from .token import token_env

_COMMAND = ("/app/moshi/.venv/bin/python", "-m", "moshi.server")
_CONFIG = "spec.personaPlexConfig"
_CERTIFICATES = "/app/ssl"


def personaplex_line(serving: Serving) -> CommandLine:
    """Return what the server is started with; it is told its port where that is not its own default."""
    spec, runtime = serving.service.spec, serving.runtime
    config = spec.persona_plex_config or PersonaPlexConfig()
    args = [flag_of(runtime, Setting.CERTIFICATES), _CERTIFICATES]
    if config.quantize4_bit:
        flag = flag_of(runtime, Setting.FOUR_BITS)
        args.append(flag)
        reason = (
            f"requires an image whose server supports {flag}, which NVIDIA's own does not; make sure that yours does"
        )
        serving.findings.warn(f"{_CONFIG}.quantize4Bit", reason, RuleId.FLAGS_UNKNOWN)
    if config.cpu_offload:
        args.append(flag_of(runtime, Setting.OFFLOADING))
    if serving.port != llmkube().runtimes[runtime].port:
        args += (flag_of(runtime, Setting.PORT), str(serving.port))
    return CommandLine(runtime, serving.tag, args, spec.command or _COMMAND)


def personaplex_env(serving: Serving) -> list[Object]:
    """Return the token for the hub, and what lets the server start without compiling first."""
    config = serving.service.spec.persona_plex_config or PersonaPlexConfig()
    token = token_env(serving, "HF_TOKEN", config.hf_token_secret_ref, f"{_CONFIG}.hfTokenSecretRef")
    return [*token, {"name": "NO_TORCH_COMPILE", "value": "1"}]
