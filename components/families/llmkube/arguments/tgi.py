"""Arguments of Text Generation Inference, in the order in which LLMKube writes them (LLMKube spec 2.3)."""

from ....contract.findings.ids import RuleId
from ....engines.command_line import CommandLine
from ....engines.settings import Feature, Setting
from ....fleet.objects import Object
from ..serving import ServiceContext
from ..types.runtimes import TGIConfig
from ..weights import repository_of
from .facts import has
from .line import EXTRA, Line, token_env

_CONFIG = "spec.tgiConfig"
_WITHOUT_DTYPE = ("gptq", "awq", "eetq")
"""Quantizations with which the server rejects a dtype (LLMKube spec 8)."""


def tgi_line(serving: ServiceContext) -> CommandLine:
    """Return the command line of the launcher."""
    line, config = Line(serving), serving.service.spec.tgi_config or TGIConfig()
    source = serving.model.spec.source
    if not serving.model_path and source.startswith(("http://", "https://", "s3://")):
        reason = f"Model {serving.model.metadata.name!r} comes from {source!r}, but tgi cannot load a URL"
        serving.findings.error(
            "spec.modelRef",
            f"{reason}; use a repository such as org/name, a claim or a path",
            RuleId.WEIGHTS_UNREACHABLE,
        )
    # The mounted file, or else a path in the image or a repository.
    line.add(Setting.MODEL, serving.model_path or repository_of(source).removeprefix("file://"), EXTRA)
    line.add_revision()
    line.bind(EXTRA)
    line.listen(serving.port)
    line.add(Setting.QUANTIZATION, config.quantize, f"{_CONFIG}.quantize")
    line.add(Setting.INPUT, config.max_input_length, f"{_CONFIG}.maxInputLength")
    line.add(Setting.CONTEXT, config.max_total_tokens, f"{_CONFIG}.maxTotalTokens")
    line.add(Setting.DTYPE, config.dtype, f"{_CONFIG}.dtype")
    if serving.gpus > 1 and line.written(Setting.TENSOR_PARALLEL, Setting.SHARDED) is None:
        line.add(Setting.TENSOR_PARALLEL, serving.gpus, EXTRA)
    findings = serving.findings
    if config.dtype and config.quantize in _WITHOUT_DTYPE:
        reason = (
            f"cannot be combined with quantize {config.quantize}, with which the server exits; remove one of the two"
        )
        findings.error(f"{_CONFIG}.dtype", reason, RuleId.FLAGS_EXCLUSIVE)
    longest, total = config.max_input_length, config.max_total_tokens
    for field, length in (("maxInputLength", longest), ("maxTotalTokens", total)):
        if length is not None and length < 1:
            reason = f"must be at least 1 token, found {length}; remove it to use the server's default"
            findings.error(f"{_CONFIG}.{field}", reason, RuleId.FLAGS_MALFORMED)
    if longest is not None and total is not None and longest >= total:
        reason = f"must be below maxTotalTokens, which includes the answer, found {longest} and {total}"
        findings.error(
            f"{_CONFIG}.maxInputLength", f"{reason}; lower it, or raise maxTotalTokens", RuleId.FLAGS_EXCLUSIVE
        )
    return line.finish()


def tgi_env(serving: ServiceContext) -> list[Object]:
    """Return the hub token, in the variable that the version reads."""
    config = serving.service.spec.tgi_config or TGIConfig()
    name = "HF_TOKEN" if has("tgi", Feature.HF_TOKEN, serving.tag) else "HUGGING_FACE_HUB_TOKEN"
    return token_env(serving, name, config.hf_token_secret_ref, f"{_CONFIG}.hfTokenSecretRef")
