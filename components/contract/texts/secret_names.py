"""Names of variables, flags, fields, headers and parameters that hold a secret.

The same words have other meanings: a *token* is also a unit of text, a *key* also identifies an entry of a map or a
table. The preceding word decides.
"""

import functools
import re

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORDS = frozenset(
    {
        *("password", "passwords", "passwd", "passphrase", "pwd", "apikey", "credential", "credentials"),
        *("authorization", "requirepass", "masterauth"),
    }
)
_ENDINGS = ("password", "passwd", "passphrase", "apikey")
"""Ends of names in one word, such as PGPASSWORD."""
_KEYS = frozenset(
    {
        *("api", "access", "account", "auth", "bot", "deploy", "encryption", "hmac", "jwt", "license", "master"),
        *("private", "secret", "shared", "signing", "ssh", "storage", "subscription", "webhook"),
    }
)
_SECRETS = frozenset({"client", "webhook", "signing", "app", "consumer", "shared", "jwt", "hmac", "bot"})
"""Words before *secret* if it is the secret itself, not the name of a Secret."""
_OTHER_KEYS = frozenset(
    {
        *("annotation", "cache", "column", "config", "dict", "field", "foreign", "group", "hash", "idempotency"),
        *("index", "json", "label", "lookup", "map", "metadata", "metric", "node", "object", "partition", "primary"),
        *("public", "query", "range", "routing", "row", "search", "selector", "shard", "sort", "taint", "topology"),
        *("unique", "yaml"),
    }
)
"""Words before *key* if it is not a secret."""
_TOKENS_OF_TEXT = frozenset(
    {
        # special tokens of a vocabulary (tokenizer_config.json, GGUF's tokenizer.ggml.*)
        *("bos", "eos", "eot", "eom", "eod", "pad", "padding", "unk", "unknown", "sep", "seperator", "separator"),
        *("cls", "mask", "special", "stop", "start", "end", "begin", "newline", "nl", "fim", "prefix", "suffix"),
        *("middle", "image", "img", "boi", "eoi", "video", "audio", "vision", "speech", "tool", "think", "thinking"),
        *("reasoning", "system", "user", "assistant", "role", "infill", "classification", "transcribe", "translate"),
        # tokens that are counted, timed or billed
        *("per", "input", "output", "prompt", "completion", "generated", "first", "last", "next", "previous", "prev"),
        *("new", "max", "min", "num", "total", "draft", "drafted", "accepted", "cached", "decode"),
        *("prefill", "context", "logprob", "single", "each", "every", "adapter"),
    }
)
"""Words before *token* if it is a unit of text."""
_OTHER_PASSES = frozenset(
    {
        *("first", "second", "single", "multi", "two", "one", "forward", "backward", "low", "high", "band", "per"),
        *("by", "test", "must", "should", "num", "optimization"),
    }
)


@functools.lru_cache(maxsize=1 << 14)
def names_secret(name: str) -> bool:
    """Whether a variable, flag or field of this name holds a secret, rather than a reference to one."""
    last_part = str(name).rpartition("/")[2]
    words = [word.lower() for word in _WORDS.findall(last_part)]
    while len(words) > 1 and words[-1].isdigit():  # one of several, such as API_KEY_2
        words.pop()
    if words[-1:] == ["id"] and words[-3:-1] == ["access", "key"]:
        return True
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORDS or last.endswith(_ENDINGS):
        return not {"cors", "allow"} & set(words)  # CORS settings allow browsers to send credentials
    variable = name.isupper() or name.startswith("-") or "_" in name or (name[:1].isupper() and "-" in name)
    if {"bearer", "token"} <= set(words) and variable:
        return True
    if variable and "-" not in name and ((last == "auth" and before) or last in ("webhook", "dsn")):
        return True
    if last == "headers" and "otlp" in words:  # name=value,name=value
        return True
    if last == "url" and before == "webhook":
        return True
    if last == "token":
        return before not in _TOKENS_OF_TEXT and not ("max" in words or "num" in words)
    if last == "secret":  # in manifests, a field of this name refers to a Secret
        return variable or before in _SECRETS
    if last in ("key", "keys"):
        if before in _OTHER_KEYS:
            return False
        return bool(before) and (before in _KEYS or (variable and last == "key"))
    if last == "data":  # client-key-data of kubeconfig files
        return before == "key" and "client" in words
    if last == "pass":
        return variable and bool(before or name.isupper() or name.startswith("-")) and before not in _OTHER_PASSES
    return is_header(last_part)


def is_header(name: str) -> bool:
    """Whether a header of this name carries credentials."""
    return name in _HEADERS or (name.lower().startswith("x-") and name.lower().endswith(("-token", "-key", "-auth")))


_HEADERS = frozenset(
    {
        *("Authorization", "authorization", "Proxy-Authorization", "proxy-authorization", "PRIVATE-TOKEN"),
        *("Cookie", "Set-Cookie", "X-Auth", "Ocp-Apim-Subscription-Key", "api-key", "apikey"),
    }
)


def names_credential(name: str) -> bool:
    """Whether a name holds a secret in the files of registries' clients (``.npmrc``, ``config.json``)."""
    return name in ("_auth", "auth_token", "identitytoken", "registrytoken")
