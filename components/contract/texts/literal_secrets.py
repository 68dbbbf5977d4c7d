"""Recognizes a value that is a secret because of its name or its form.

Apart from :mod:`.secrets`, which looks for secrets in texts and is imported only for messages.
"""

import re

from .hidden import HIDDEN
from .secret_names import names_secret

SECRET_TEXT = "[secret]"  # noqa: S105  the mask, not a password

HARMLESS = frozenset(
    {
        *("", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null", "n/a", SECRET_TEXT),
        *("empty", "no-key", "not-needed", "not-used", "unused", "dummy", "placeholder", "redacted"),
        *("sk-no-key-required", "disabled", "enabled"),
    }
)
"""Switches, and the usual placeholders for servers that require no key."""
REFERENCE = re.compile(
    r"\$\(\w[\w.-]*\)|\$\{?\w+\}?|\$\{\w+:?[?+][^}]*\}|\$\{\w+:?-\}|\$[@*#?!]"  # variables
    r"|\$\((?!\s*(?:echo|printf)\b)[^()]*\)|`(?!\s*(?:echo|printf)\b)[^`]*`"  # output of another command
    r"|(?:~|\.{1,2})?(?:/[a-z0-9._-]+)+|[a-z0-9]+://[^\s@]*"  # a path, or a URL without a password
    r"|<[^<>]*>|%[^%]+%|\$?\{\{[^{}]*\}\}|\*{3,}|[xX]{3,}|\.{3}"  # a placeholder
)
_SCHEMES = ("basic", "bearer", "digest", "token", "apikey", "key")
"""Authentication schemes, which precede the credentials in a header."""
_SESSION_FLAG = re.compile(r"--?session[-_]?key", re.IGNORECASE)
_HEADER = re.compile(r"x(?:-[a-z]+)+|(?:[a-z]+[-_])+(?:id|key|name|session|user)", re.IGNORECASE)
"""The name of a header, which identifies a session to a router."""
_COUNT = re.compile(r"-?\d{1,5}(?:\.\d+)?|\d*\.\d+(?:[eE][-+]?\d+)?")
"""A number of tokens, or a price of one."""

FORMS = re.compile(
    r"(?P<pem>-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z))"
    r"|(?P<putty>PuTTY-User-Key-File-\d:.*?(?:Private-MAC: ?[0-9a-f]+|\Z))"
    r"|(?P<hook>(?<=://)(?:hooks\.slack\.com|(?:\w+\.)?discord(?:app)?\.com/api/webhooks|[\w.-]+\.webhook\.office\.com"
    r"|hooks\.zapier\.com|chat\.googleapis\.com/v1/spaces)/[^\s'\"<>]+)"  # an address that needs no other credentials
    r"|(?<![\w-])(?:"
    r"hf_(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{8,}"  # Hugging Face; hf_transfer is a library
    r"|sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, and providers that use the same form
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|ABSK[A-Za-z0-9+/]{20,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{20,}"  # AWS
    r"|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|gl(?:pat|dt|rt|cbt|ptt|ft)-[\w-]{20,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"  # Slack
    r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}"  # Google
    r"|nvapi-[\w-]{20,}"  # NVIDIA
    r"|gsk_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{30,}|pplx-[A-Za-z0-9]{20,}"  # Groq, Replicate, Perplexity
    r"|npm_[A-Za-z0-9]{30,}|pypi-AgE[\w-]{20,}|dckr_pat_[\w-]{20,}"  # package and image registries
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|SG\.[\w-]{16,}\.[\w-]{16,}"  # Stripe, SendGrid
    r"|hv[sb]\.[\w-]{20,}|pul-[0-9a-f]{40}|AGE-SECRET-KEY-1[0-9A-Z]{20,}"  # Vault, Pulumi, age
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # JSON web tokens
    r")"
    r"|(?<=://)(?P<user>[^\s/:@'\"]*:)(?P<password>[^\s/@'\"]+)(?=@)"
    r"|(?<=https://)(?P<userinfo>(?=[^\s/:@'\"]*\d)[^\s/:@'\"]{8,})(?=@)"
    r"|(?P<scheme>\b[Bb]earer )(?P<bearer>[\w.~+/=-]{8,})"
    r"|(?P<basic>\b[Bb]asic )(?P<encoded>(?=[a-z]*[A-Z0-9+/=])[A-Za-z0-9+/_-]{8,}={0,2})",
    re.DOTALL,
)
FORMED = re.compile(
    r"-----|PuTTY|hook|googleapis|ABSK|bedrock|hf_|sk-|A[KS]IA|gh[a-z]_|github_|gl[a-z]+-|xox|xapp-|AIza|ya29|nvapi-|gsk_|r8_|pplx-|npm_|pypi-|dckr_"
    r"|[sr]k_|SG\.|hv[sb]\.|pul-|AGE-|eyJ|://[^/]*@|earer |asic "
)
"""A cheap test: only texts that match can match ``FORMS``."""


def is_literal_secret(name: str, value: object) -> bool:
    """Whether a value is a plain-text secret, because of its name or its form."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip().strip("'\"")
    if text.lower() in HARMLESS or HIDDEN.fullmatch(text):
        return False
    if names_secret(name) and not _is_reference(text, name):
        return True
    match = FORMS.search(text) if FORMED.search(text) else None
    return match is not None and not (match["password"] or match["userinfo"]) and match[0] == text


def _is_reference(text: str, name: str) -> bool:
    """Whether a text only refers to a secret, or is a number of tokens."""
    if REFERENCE.fullmatch(text):
        return True
    if _SESSION_FLAG.fullmatch(name) and _HEADER.fullmatch(text):
        return True
    words = text.split()
    if words[1:] and words[0].lower() in _SCHEMES and all(map(REFERENCE.fullmatch, words[1:])):
        return True
    return name.lower().endswith("token") and _COUNT.fullmatch(text) is not None
