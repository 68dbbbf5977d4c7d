"""Markdown that holds what others wrote: shown as text, cut where it is too long, without reaching out of itself."""

import re
from collections.abc import Mapping

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of text around: what is read must be what is there."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_OF_ONE_STACK = re.compile(r"^<!-- inference-platform plan: [\w.-]+ -->\n?", re.MULTILINE)
"""By this line the comment of a single stack is found; here all stacks have one comment, with a line of its own."""
_TAG = re.compile(r"<(/?)details\b", re.IGNORECASE)
_TAG_WHOLE = re.compile(r"</details\b[^>]*>?", re.IGNORECASE)


def length(text: str) -> int:
    """Return how long a text is for code hosts, which count UTF-16: at most 65,536 in a comment of GitHub."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def code(text: str) -> str:
    """Return a text as code within a line, also in a table, whatever is in it."""
    plain = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split("\n")))
    plain = plain.encode("utf-8", "replace").decode().replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence, pad = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{pad}{plain or ' '}{pad}{fence}"


def block(text: str) -> str:
    """Return a text as a block of code, whatever is in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    body = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text).rstrip("\n")
    return f"{fence}text\n{body}\n{fence}\n"


def cleaned(text: str, links: str) -> str:
    """Return Markdown from anybody's code such that it can do no more than say something.

    It notifies nobody, loads no picture, hides no text and no marker of ours, and links to nowhere but ``links``:
    who writes it must not speak with the voice of the repository. Addresses that are spelled out stay as they are.
    """
    text = _CONTROLS.sub("", text.replace("\r\n", "\n"))
    text = _OF_ONE_STACK.sub("", text).replace("<!--", "&lt;!--")
    text = re.sub(r"(?<!\w)@(?=\w)", "@\N{ZERO WIDTH NON-JOINER}", text)
    text = re.sub(r"!(?=\[)", "&#33;", text)
    text = re.sub(r"<(?=/?(?!details\b|summary\b|br\b|sub\b|sup\b|b\b|i\b|code\b)[A-Za-z])", "&lt;", text)
    text = re.sub(r"<(details|summary|br|sub|sup|b|i|code)\s[^<>]*?(open)?[^<>]*>", _bare, text, flags=re.I)
    text = re.sub(rf"\](?=\((?!{re.escape(links)}|#))", "\\]", text) if links else text.replace("](", "\\](")
    return balanced(re.sub(r"^( {0,3}\[[^\]\n]+\]):", r"\1\:", text, flags=re.MULTILINE))


def _bare(found: re.Match[str]) -> str:
    """Return a tag without attributes, but for the one that opens a fold."""
    opened = found[1].lower() == "details" and re.search(r"\sopen\b", found[0], re.IGNORECASE)
    return f"<{found[1]} open>" if opened else f"<{found[1]}>"


def balanced(text: str) -> str:
    """Return Markdown whose blocks of code and folds are closed, and that closes nothing which it did not open."""
    kept, fence, folds = [], "", 0
    for line in text.splitlines(keepends=True):
        spare = 0 if fence else max(0, -_lowest(line) - folds)
        kept.append(_TAG_WHOLE.sub("", line, count=spare) if spare else line)
        fence, folds = _after(line, fence, folds)
    return "".join(kept) + _closing(fence, folds)


def _lowest(line: str) -> int:
    """Return how many folds a line closes that it did not open, as a negative number."""
    depth = lowest = 0
    for tag in _TAG.finditer(line):
        depth += -1 if tag[1] else 1
        lowest = min(lowest, depth)
    return lowest


def shortened(text: str, most: int, where: str) -> str:
    """Return as many whole lines as fit, with every block and fold closed, and where the rest is."""
    if length(text) <= most:
        return text
    note = f"\n*Cut here: the whole report is {where}.*\n"
    kept, used, fence, folds = [], length(note), "", 0
    for line in text.splitlines(keepends=True):
        opened, depth = _after(line, fence, folds)
        closing = length(_closing(opened, depth))
        if used + length(line) + closing > most:
            break
        kept.append(line)
        used += length(line)
        fence, folds = opened, depth
    return "".join(kept) + _closing(fence, folds) + note


def _after(line: str, fence: str, folds: int) -> tuple[str, int]:
    """Return which block of code and how many folds are open after a line."""
    found = _FENCE.match(line)
    if fence:
        closes = found and found[1].startswith(fence) and not line.strip().strip(fence[0])
        return ("" if closes else fence), folds
    if found:
        return found[1], folds
    return "", max(0, folds + sum(-1 if tag[1] else 1 for tag in _TAG.finditer(line)))


def _closing(fence: str, folds: int) -> str:
    return (f"\n{fence}\n" if fence else "") + "\n</details>\n" * folds


def shares(lengths: Mapping[str, int], room: int) -> dict[str, int]:
    """Divide room among texts: short ones get what they need, and long ones the same of what is left."""
    given: dict[str, int] = {}
    for count, name in enumerate(sorted(lengths, key=lambda name: (lengths[name], name))):
        given[name] = min(lengths[name], (room - sum(given.values())) // (len(lengths) - count))
    return given
