"""Arguments of PersonaPlex, a speech-to-speech server (LLMKube spec 2.4).

Its flags are those of ``moshi/server.py`` in NVIDIA's repository, which has ``--port`` and no ``--quantize-4bit``.
"""

from ....fleet.objects import Object
from ..facts import llmkube
from ..serving import Serving
from ..types.runtimes import PersonaPlexConfig
from .token import token_env

COMMAND = ("/app/moshi/.venv/bin/python", "-m", "moshi.server")
_CONFIG = "spec.personaPlexConfig"
_CERTIFICATES = "/app/ssl"


def personaplex_args(serving: Serving) -> list[str]:
    """Return the arguments of the server; it is told its port where that is not its own default."""
    config = serving.service.spec.persona_plex_config or PersonaPlexConfig()
    args = ["--ssl", _CERTIFICATES]
    if config.quantize4_bit:
        args.append("--quantize-4bit")
        reason = (
            "requires an image whose server supports --quantize-4bit, which NVIDIA's own does not; make sure that "
            "yours does"
        )
        serving.findings.warn(f"{_CONFIG}.quantize4Bit", reason)
    if config.cpu_offload:
        args.append("--cpu-offload")
    if serving.port != llmkube().runtimes[serving.runtime].port:
        args += ("--port", str(serving.port))
    return args


def personaplex_env(serving: Serving) -> list[Object]:
    """Return the token for the hub, and what lets the server start without compiling first."""
    config = serving.service.spec.persona_plex_config or PersonaPlexConfig()
    token = token_env(serving, "HF_TOKEN", config.hf_token_secret_ref, f"{_CONFIG}.hfTokenSecretRef")
    return [*token, {"name": "NO_TORCH_COMPILE", "value": "1"}]
