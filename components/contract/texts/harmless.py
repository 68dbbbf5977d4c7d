"""Decides which texts reports may show. All reports, messages and logs share this decision.

Variables, headers, arguments and files may hold secrets of any name and form, so a text there is shown only if it is
known to be harmless: a number, a switch, a reference, a path, an address within the cluster, a word of the engines'
tables, or a plain value of one of their flags and variables. Elsewhere, such as in names and labels, only texts that
look random are hidden.
"""

import functools
import json
import re
from collections.abc import Iterator

from .hidden import HIDDEN
from .literal_secrets import FORMED, FORMS, HARMLESS, SECRET_TEXT
from .secret_names import names_credential, names_secret
from .vocabulary import vocabularies

_SWITCHES = frozenset(
    {
        *HARMLESS,
        *("auto", "all", "any", "default", "always", "never", "disable", "enable"),
        *("trace", "debug", "info", "warn", "warning", "error", "critical", "fatal"),
        *("text", "json", "http", "https", "tcp", "udp", "grpc", "localhost"),
        *("cpu", "gpu", "cuda", "rocm", "xpu", "tpu", "utf-8", "c.utf-8", "en_us.utf-8", "utc"),
    }
)
_KEYWORDS = (
    "if then else elif fi for in do done while until case esac [ [[ ] ]] { } ! != = == true false : test exec "
    "set export cd exit wait trap shift return local read eval source . unset break continue "
)
"""Keywords and built-in commands of a shell."""
_PROGRAMS = (
    "ash awk aws bash cat chmod chown clone cp curl cut dash date echo env find git grep gsutil head install "
    "join kill ln load ls mkdir mv nc node nvidia-smi pip printf python python3 ray rm s3 sed serve sh sleep "
    "sort start sync sysctl tail tar tee timeout tini tr ulimit wget xargs "
)
"""Usual programs in scripts, and their subcommands."""
_SHELL = frozenset((_KEYWORDS + _PROGRAMS).split())
_VARIABLE = re.compile(
    r"\$\(\w[\w.-]*\)|\$\{?\w+\}?|\$\{\w+:?[?+][\w ]*\}|\$\{\w+:?-\}|\$[@*#?!$]"
    r"|<[a-z][a-z _-]*>|\*{3,}|[xX]{3,}|\.{3}"
)
"""A reference to a variable, or a placeholder."""
_REFERENCE = re.compile(r"\$\(\w[\w.-]*\)")
_NUMBER = re.compile(
    r"[-+]?\d[\d_]{0,11}(?:\.\d+)?(?:[eE][-+]?\d{1,3})?(?:%|[kKMGTPE]i?B?|[munµ]?s|[mhdwyB]|min)?"
    r"|0x[0-9a-fA-F]{1,8}|\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d{1,5})?|v?\d{1,4}(?:\.\d{1,4}){1,3}"
)
_NUMBERS = re.compile(rf"(?:{_NUMBER.pattern})(?:[,:;/ ](?:{_NUMBER.pattern}))*")
_PATH = re.compile(
    r"(?:~|\.{1,2})?(?:/[\w.+@=-]*)+|[\w.-]+(?:/[\w.-]+)*\.(?:py|sh|json|ya?ml|gguf|safetensors|jinja|txt)"
)
_ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+]{1,10}://)(?P<host>[\w.-]+|\[[0-9a-f:]+\])(?P<port>:\d{1,5})?(?P<path>(?:/[\w.@:+-]*)*)"
)
_HOST = re.compile(
    r"(?:[a-z0-9-]+\.)*svc(?:\.cluster\.local)?|[a-z0-9-]+(?:\.[a-z0-9-]+)?|\d+(?:\.\d+){3}|\[[0-9a-f:]+\]"
)
"""A host within the cluster."""
_REPOSITORY = re.compile(r"(?:hf|modelscope|oci|ollama|pvc)://[\w./:-]+", re.ASCII)
"""The address of a model in a hub, a registry or a volume."""
_QUERY = re.compile(r"(?<=://)[^\s?'\"<>]{1,512}\?(?P<query>[^\s'\"<>]+)")
_PARAMETER = re.compile(r"(?P<name>[^=&;#]+)=(?P<value>[^&;#]+)")
_PARAMETERS = frozenset(
    {
        *("ref", "rev", "revision", "version", "versionid", "tag", "branch", "commit"),
        *("file", "filename", "format", "download"),
    }
)
"""Parameters that select what is downloaded from an address."""
_PLAIN = re.compile(r"[\w./:@%+=,~*-]{1,253}", re.ASCII)
_RUN = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]*[0-9A-Z])[A-Za-z0-9]{10,}={0,2}|(?<![A-Za-z0-9])[a-z]{28,}")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ADDRESS_HOST = re.compile(r"(?<=://)[\w-]+(?:\.[\w-]+)+(?=[:/]|\Z)(?!:[^/@]*@)")
_DNS_NAME = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+){2,}(?::\d+)?")
"""Names of load balancers have random parts."""
_DIGEST = re.compile(r"sha(?:256|512):[0-9a-f]{64,128}")
_HEX = re.compile(r"(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]+")
_WORDED = ((32, 4.0), (20, 3.0), (0, 2.5))
"""Least mean length of the words and numbers in a text, by its length. Random letters and digits have 1.7 on average,
and the shorter a text, the more it varies."""
_MIXED = 16
"""Least length of random capitals and digits."""
_LONGEST_NAME = 27
_INSTANCE_TYPE = re.compile(r"[a-z]{1,3}\d[a-z]{0,3}\d{0,2}(?:x?large|medium|metal)")
"""An instance type without its dot."""
_FEWEST_CHARACTERS = 4
"""Different characters of a random text."""
_HASH = re.compile(r"[0-9a-f]{16}|[0-9a-f]{32}")
"""The folder of a model in a cache, which is the hash of its source."""
_GENERATED = re.compile(r"[0-9a-f]{8,17}|[a-z0-9]{10}")
"""The ids of cloud resources, and the suffixes of Kubernetes' names, after a dash."""
_USUAL_HEADERS = frozenset({"accept", "content-type", "host", "user-agent", "connection", "x-forwarded-proto"})


def is_random(run: str) -> bool:
    """Whether letters and digits look random, as those of tokens do, unlike names, versions and sizes."""
    if len(set(run)) < _FEWEST_CHARACTERS or _INSTANCE_TYPE.fullmatch(run):
        return False
    pieces = _PIECE.findall(run)
    worded = next(least for length, least in _WORDED if len(run) >= length)
    if len(run) / max(1, len(pieces)) < worded:
        return True
    if len(run) >= _MIXED and _HEX.fullmatch(run):
        return True
    if len(run) >= _MIXED and len(pieces) > 2 and run.rstrip("=").isupper() and any(map(str.isdigit, run)):
        return True
    return len(run) > _LONGEST_NAME and run.isalpha() and run.islower()


def knows_flag(name: str) -> bool:
    """Whether a flag of this name is known."""
    return any(vocabulary.accepts(name, "") is not None for vocabulary in vocabularies())


def most_values(flag: str) -> int | None:
    """Return how many words after a flag are its values; None if it is not known, or takes more than one."""
    numbers = (vocabulary.most_values(flag) for vocabulary in vocabularies())
    return next((number for number in numbers if number is not None), None)


def random_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words in a text that look random."""
    if len(text) < 10:
        return
    names: list[tuple[int, int]] = []
    is_path = text.startswith("/") or "=/" in text
    if "sha" in text:
        names += [match.span() for match in _DIGEST.finditer(text)]
    if "://" in text:
        names += [match.span() for match in _ADDRESS_HOST.finditer(text)]
    elif "." in text and _DNS_NAME.fullmatch(text):
        return
    for match in _RUN.finditer(text):
        start, end = match.span()
        if is_path and text[start - 1] == "/" and _HASH.fullmatch(match[0]):
            continue
        is_suffix = text[start - 1 : start] == "-" and _GENERATED.fullmatch(match[0]) is not None
        if not is_suffix and is_random(match[0]) and not any(first <= start < last for first, last in names):
            yield start, end


def suspect_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words in any text that may be secrets: random ones, and parameters of addresses."""
    yield from random_spans(text)
    if "://" not in text or "=" not in text:
        return
    for query in _QUERY.finditer(text):
        for match in _PARAMETER.finditer(text, *query.span("query")):
            value = match["value"].rstrip(".,:)")  # the end of a sentence
            is_known = match["name"].lower() in _PARAMETERS or value.lower() in _SWITCHES
            if not (is_known or _NUMBERS.fullmatch(value) or _VARIABLE.fullmatch(value) or HIDDEN.match(value)):
                yield match.start("value"), match.start("value") + len(value)


def is_plain(text: str) -> bool:
    """Whether a text is one word, path or list of words, of which none looks random, and without user information."""
    text = _REFERENCE.sub("x", text)
    if not _PLAIN.fullmatch(text) or (FORMED.search(text) and FORMS.search(text)):
        return False
    if "://" in text:
        address = _ADDRESS.fullmatch(text)
        if address is None or "hook" in text:
            return False
    return next(random_spans(text), None) is None


def is_harmless(text: str, name: str = "", *, header: bool = False) -> bool:
    """Whether the value of a variable, header or flag may be shown.

    Args:
        text: The value, without spaces around it.
        name: Name of the variable, header or flag; empty for a positional argument.
        header: Whether it is that of a header.
    """
    # A cache of long texts, such as the files of ConfigMaps, would take gigabytes.
    decide = _decided if len(text) <= _LONGEST_CACHED else _decided.__wrapped__
    return bool(decide(text, name, header))


_LONGEST_CACHED = 512
"""Characters of a text for which the decision is kept; arguments and values are shorter."""


@functools.lru_cache(maxsize=1 << 14)
def _decided(text: str, name: str, header: bool) -> bool:  # noqa: FBT001  a cache distinguishes positions and names
    if text.lower() in HARMLESS or text == SECRET_TEXT or HIDDEN.fullmatch(text) or _VARIABLE.fullmatch(text):
        return True
    if names_secret(name) or names_credential(name):
        return False
    if text.lower() in _SWITCHES or _NUMBERS.fullmatch(text):
        return True
    if header:
        lower = name.lower()
        return (lower in _USUAL_HEADERS or "model" in lower or lower.startswith(":")) and is_plain(text)
    known = vocabularies()
    if any(text in vocabulary.words for vocabulary in known):
        return True
    if "\n" in text and any(vocabulary.is_script(text) for vocabulary in known):
        return True
    if name.startswith("-"):
        accepted = [vocabulary.accepts(name, text) for vocabulary in known]
        if any(answer is not None for answer in accepted):
            return is_plain(text) or (text[:1] in "{[" and _is_plain_json(text))
    elif name and any(vocabulary.is_variable(name) for vocabulary in known):
        return is_plain(text) or (text[:1] in "{[" and _is_plain_json(text))
    return is_path(text) or _is_internal(text) or (_REPOSITORY.fullmatch(text) is not None and is_plain(text))


def is_path(text: str) -> bool:
    """Whether a text is a path of plain words."""
    return _PATH.fullmatch(text) is not None and is_plain(text)


def _is_internal(text: str) -> bool:
    address = _ADDRESS.fullmatch(text)
    return address is not None and _HOST.fullmatch(address["host"]) is not None and is_plain(text)


def is_shell_word(text: str) -> bool:
    """Whether a word is a keyword of a shell or a usual program."""
    return text in _SHELL


_OPTIONS = re.compile(
    r"model|tokenizer|method|mode|type|dtype|task|level|format|layout|device|architectures"
    r"|\w+_(?:model|method|mode|type|dtype|backend|connector|role|format|layout|device|cls|class|parser)"
)
"""Options in the JSON of engines' flags whose values are names of models, methods and classes."""
_MODEL_ID = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def _is_plain_option(name: str, value: str) -> bool:
    """Whether a text in the JSON of a flag may be shown: flags pass JSON on, with any option."""
    if is_harmless(value):
        return True
    return is_plain(value) and (_OPTIONS.fullmatch(name) is not None or _MODEL_ID.fullmatch(value) is not None)


def _is_plain_json(text: str) -> bool:
    """Whether every value in a JSON text is plain, and none has the name of a secret."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    pending: list[tuple[str, object]] = [("", value)]
    while pending:
        name, value = pending.pop()
        if isinstance(value, dict):
            if not all(map(is_plain, value)):
                return False
            pending += value.items()
        elif isinstance(value, list):
            pending += ((name, item) for item in value)
        elif names_secret(name) or (isinstance(value, str) and not _is_plain_option(name, value)):
            return False
    return True
