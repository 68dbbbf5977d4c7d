"""Sanitize and shorten Markdown that contains untrusted text."""

import html
import re
from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, including those that reverse the direction of text: readers must see the actual text."""
_FENCE = re.compile(r"((?:[ >]|[-*+] |\d{1,9}[.)] )*)(`{3,}|~{3,})")
"""A fence of a code block, also within quotes and lists, with the text before it."""
_OF_ONE_STACK = re.compile(r"^<!-- inference-platform plan: [\w.-]+ -->\n?", re.MULTILINE)
"""Marker of the comment of a single stack. Here all stacks share a comment, which has a marker of its own."""
_LISTS = ("bullet_list", "ordered_list")
_SPANS = frozenset({"br", "sub", "sup", "b", "i", "code"})
"""Inline tags that are allowed."""
_BLOCK_SPANS = _SPANS | {"summary"}
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)(?:[\s/][^<>]*)?>")
_FOLD = re.compile(r"<(/?)details(?:[\s/][^<>]*)?>", re.IGNORECASE)
_OPEN = re.compile(r"\sopen\b", re.IGNORECASE)
_SPECIAL = re.compile(r"[\\`*_\[\]|~$]")
"""Characters with a meaning anywhere in Markdown; ``&`` and ``<`` become entities."""
_MEANING = re.compile(r"[^\w\s.,;:%/()'@#?\u200c-]|_")
_CALLS = re.compile(r"@|#(?=\d)")
_BLOCK_START = re.compile(r"^(\d{0,9})([-+=#>.)])")
"""The start of a line that begins a heading, a list, a quote or a rule; with the number of a list item."""
_LANGUAGE = re.compile(r"[A-Za-z0-9_+-]{1,20}")
_MERMAID = "mermaid"
_NODE = r'\w+(?:\["(?:[^"<>&]|<br/>|&[a-z]+;|#\w+;)*"\]|\[[\w ./-]*\])?'
_MERMAID_LINE = re.compile(
    rf"flowchart (?:LR|RL|TB|TD|BT)|{_NODE}(?: --> {_NODE})*|classDef \w+ [\w#:,.%-]+|class [\w,]+ \w+"
)
_ALIGNED = {"left": " :-- ", "right": " --: ", "center": " :-: "}
_ADDRESS = re.compile(r"[-\w.~:/?#@!$&'*+,;=%()\[\]]+", re.ASCII)
_TAG = re.compile(r"<(/?)details\b", re.IGNORECASE)


def length(text: str) -> int:
    """Return the length of a text in UTF-16 code units, which code hosts limit: 65,536 in a comment on GitHub."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def code(text: str) -> str:
    """Return untrusted text as a code span that is also valid in a table."""
    line = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split("\n")))
    line = line.encode("utf-8", "replace").decode().replace("|", "\\|")
    fence, padding = _fence_around(line), " " if "`" in line else ""
    return f"{fence}{padding}{line or ' '}{padding}{fence}"


def block(text: str) -> str:
    """Return untrusted text as a code block."""
    fence = _fence_around(text, 3)
    body = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text).rstrip("\n")
    return f"{fence}text\n{body}\n{fence}\n"


def _fence_around(text: str, minimum: int = 1) -> str:
    """Return a fence of backticks that is longer than every run of backticks in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(minimum, longest + 1)


def cleaned(text: str, links: str) -> str:
    """Return untrusted Markdown in a form that is safe in a comment of the repository.

    The result contains no mentions, images, hidden text or markers, and its links point only to addresses below
    ``links``; other addresses appear as text. The input is parsed and written again from an allowlist of elements, so
    that the result does not depend on unusual spellings.
    """
    # Imported here: only the job that writes comments installs the parser (ci/requirements.lock). The other
    # privileged jobs install nothing.
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    text = _OF_ONE_STACK.sub("", _CONTROLS.sub("", text.replace("\r\n", "\n")))
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return _Writer(links).document(SyntaxTreeNode(parser.parse(text)))


class _Writer:
    """Writes parsed Markdown, with all special characters of its text escaped.

    Folds (``<details>``) and other tags are closed in the quote, list item or line that opened them, and closing tags
    without an opening one are dropped, so that tags do not affect the text around the Markdown.
    """

    def __init__(self, links: str) -> None:
        self.links = f"{links.rstrip('/')}/" if links else ""
        self._write: dict[str, Callable[[SyntaxTreeNode], str]] = {
            "heading": self._heading,
            "paragraph": self._paragraph,
            "bullet_list": self._list,
            "ordered_list": self._list,
            "blockquote": self._quote,
            "fence": self._fence,
            "code_block": self._fence,
            "table": self._table,
            "hr": lambda _: "---",
            "html_block": lambda node: self._html(node.content),
        }
        self._folds = 0

    def document(self, root: "SyntaxTreeNode") -> str:
        body = self._blocks(root)
        return f"{body}\n" if body else ""

    def _blocks(self, node: "SyntaxTreeNode", between: str = "\n\n") -> str:
        """Return the blocks of a container, and close the folds that it opened."""
        outside, self._folds = self._folds, 0
        parts = [self._write[child.type](child) for child in node.children if child.type in self._write]
        parts += ["</details>"] * self._folds
        self._folds = outside
        return between.join(part for part in parts if part)

    def _heading(self, node: "SyntaxTreeNode") -> str:
        return f"{'#' * int(node.tag[1:])} {self._inline(node, ' ')}".rstrip()

    def _paragraph(self, node: "SyntaxTreeNode") -> str:
        # A line must not begin a block of another kind.
        return "\n".join(_BLOCK_START.sub(r"\1\\\2", line.lstrip()) for line in self._inline(node).split("\n"))

    def _quote(self, node: "SyntaxTreeNode") -> str:
        return "\n".join(f"> {line}".rstrip() for line in self._blocks(node).split("\n"))

    def _list(self, node: "SyntaxTreeNode") -> str:
        is_tight = any(block.hidden for item in node.children for block in item.children)
        number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        items = []
        for item in node.children:
            marker = "- " if number is None else f"{number}. "
            number = None if number is None else number + 1
            # Even in a tight list, a block other than a list needs an empty line before it, or it becomes text.
            simple = is_tight and all(block.type in ("paragraph", *_LISTS) for block in item.children)
            body = self._blocks(item, "\n" if simple else "\n\n")
            items.append((marker + body.replace("\n", "\n" + " " * len(marker))).rstrip())
        # Remove the indentation of empty lines.
        return re.sub(r"\n +(?=\n)", "\n", ("\n" if is_tight else "\n\n").join(items))

    def _fence(self, node: "SyntaxTreeNode") -> str:
        content = node.content.rstrip("\n")
        info = node.info.strip()
        # Diagrams may have nodes, arrows and colors alone: other statements of Mermaid create links.
        is_allowed = info != _MERMAID or all(
            _MERMAID_LINE.fullmatch(line.strip()) for line in content.split("\n") if line.strip()
        )
        if not _LANGUAGE.fullmatch(info) or not is_allowed:
            info = "text"
        fence = _fence_around(content, 3)
        return f"{fence}{info}\n{content}\n{fence}"

    def _table(self, node: "SyntaxTreeNode") -> str:
        rows = [row for part in node.children for row in part.children]
        lines = [" | ".join(["", *(self._inline(cell, " ", cell=True) for cell in row.children), ""]) for row in rows]
        styles = [str(cell.attrs.get("style", "")) for cell in rows[0].children]
        rule = "|".join(["", *(_ALIGNED.get(style.rpartition(":")[2], " --- ") for style in styles), ""])
        return "\n".join(line.strip() for line in (lines[0], rule, *lines[1:]))

    def _inline(self, node: "SyntaxTreeNode", line_break: str = "\n", *, cell: bool = False) -> str:
        (inline,) = node.children or (None,)
        if inline is None:
            return ""
        opened: list[str] = []
        written = self._spans(inline.children, opened, line_break, cell=cell)
        return (written + "".join(f"</{tag}>" for tag in reversed(opened))).strip()

    def _spans(self, nodes: "Iterable[SyntaxTreeNode]", opened: list[str], line_break: str, *, cell: bool) -> str:
        """Return spans of text.

        Args:
            nodes: The spans.
            opened: The open tags, which is updated.
            line_break: Separator of lines where no tag is open; within a tag it is a space, since the text may be cut
                between lines.
            cell: Whether the spans are in a table cell.
        """
        parts = []
        for node in nodes:
            inner = self._spans(node.children, opened, line_break, cell=cell) if node.children else ""
            match node.type:
                case "text":
                    parts.append(_escaped(node.content))
                case "code_inline":
                    content = node.content
                    fence = _fence_around(content)
                    padding = " " if "`" in content or content[:1] == content[-1:] == " " else ""
                    span = f"{fence}{padding}{content}{padding}{fence}"
                    parts.append(span.replace("|", "\\|") if cell else span)
                case "softbreak":
                    parts.append(" " if opened else line_break)
                case "hardbreak":
                    parts.append("<br>" if opened or line_break != "\n" else "\\\n")
                case "html_inline":
                    parts.append(_tag(node.content, opened, _SPANS) or _escaped(node.content))
                case "strong" | "em" | "s":
                    mark = {"strong": "**", "em": "*", "s": "~~"}[node.type]
                    parts.append(f"{mark}{inner}{mark}" if inner.strip() else inner)
                case "link" if self._is_allowed_link(str(node.attrs.get("href", ""))):
                    parts.append(f"[{inner}](<{node.attrs['href']}>)")
                case "link":
                    href = str(node.attrs.get("href", ""))
                    label = "".join(child.content for child in node.children if child.type == "text")
                    parts.append(inner if label == href else f"{inner} ({_escaped(href)})")
                case "image":
                    parts.append(f"{_escaped(node.content)} ({_escaped(str(node.attrs.get('src', '')))})")
        return "".join(parts)

    def _html(self, content: str) -> str:
        """Return a block of HTML: its allowed tags, and everything else as text."""
        parts, opened, position = list[str](), list[str](), 0
        for tag in _ANY_TAG.finditer(content):
            between = html.unescape(content[position : tag.start()])
            parts.append(_entities(between.replace("\n", " ") if opened else between))
            position = tag.end()
            fold = _FOLD.fullmatch(tag[0])
            if fold is None:
                parts.append(_tag(tag[0], opened, _BLOCK_SPANS) or _entities(tag[0]))
            elif not fold[1]:
                self._folds += 1
                parts.append("<details open>" if _OPEN.search(tag[0]) else "<details>")
            elif self._folds:
                self._folds -= 1
                parts += [*(f"</{name}>" for name in reversed(opened)), "</details>"]
                opened.clear()
        rest = html.unescape(content[position:])
        parts.append(_entities(rest.replace("\n", " ").rstrip() if opened else rest))
        parts += (f"</{name}>" for name in reversed(opened))
        return "\n".join(line for line in "".join(parts).split("\n") if line.strip())

    def _is_allowed_link(self, href: str) -> bool:
        """Whether an address is below ``links``, however a browser resolves its path segments."""
        if re.fullmatch(r"#[\w-]*", href, re.ASCII):
            return True
        if not self.links or not href.startswith(self.links) or not _ADDRESS.fullmatch(href):
            return False
        path = unquote(href.removeprefix(self.links).partition("#")[0].partition("?")[0])
        return not {".", ".."} & {*re.split(r"[/\\]", path)} and "\\" not in path and "%" not in path


def _tag(text: str, opened: list[str], allowed: Container[str]) -> str:
    """Return an allowed tag without attributes; empty for other tags, and for a closing tag without an open one."""
    match = _TAG_NAME.fullmatch(text)
    name = match[2].lower() if match else ""
    if match is None or name not in allowed:
        return ""
    if name == "br":
        return "<br>"
    if not match[1]:
        opened.append(name)
        return f"<{name}>"
    if name not in opened:
        return ""
    # Tags that were opened after it are closed with it.
    closed = opened[opened.index(name) :]
    del opened[opened.index(name) :]
    return "".join(f"</{tag}>" for tag in reversed(closed))


def _escaped(text: str) -> str:
    """Return a text with Markdown escaped and without mentions."""
    text = _SPECIAL.sub(r"\\\g<0>", text.replace("&", "&amp;").replace("<", "&lt;"))
    return _uncalled(text)


def _entities(text: str) -> str:
    """Return a text with all characters as entities that have a meaning in Markdown or HTML."""
    return _MEANING.sub(lambda match: f"&#{ord(match[0])};", _uncalled(text))


def _uncalled(text: str) -> str:
    """Separate ``@`` from a name and ``#`` from a number, which would notify a person or an issue."""
    return _CALLS.sub(lambda match: f"{match[0]}\N{ZERO WIDTH NON-JOINER}", text)


def shortened(text: str, most: int, where: str) -> str:
    """Return as many whole lines as fit into ``most`` code units, close open blocks and folds, and add a note.

    The note says where the full report is.
    """
    if length(text) <= most:
        return text
    note = f"\n*Truncated: the full report is {where}.*\n"
    kept, used, fence, folds = [], length(note), "", 0
    for line in text.splitlines(keepends=True):
        opened, depth = _open_after(line, fence, folds)
        closing = length(_closing(opened, depth))
        if used + length(line) + closing > most:
            break
        kept.append(line)
        used += length(line)
        fence, folds = opened, depth
    return "".join(kept) + _closing(fence, folds) + note


def _open_after(line: str, fence: str, folds: int) -> tuple[str, int]:
    """Return the closing fence of the open code block, if any, and the number of open folds after a line."""
    match = _FENCE.match(line)
    if fence:
        marks = fence.lstrip(" >")
        closes = match and match[2].startswith(marks) and not line[match.end() :].strip()
        return ("" if closes else fence), folds
    if match:
        return re.sub(r"[^ >]", " ", match[1]) + match[2], folds
    return "", max(0, folds + sum(-1 if tag[1] else 1 for tag in _TAG.finditer(line)))


def _closing(fence: str, folds: int) -> str:
    # The fence keeps its indentation: at the start of a line it would end the list that contains the block, and open
    # another block. In a quote, an empty line before it would end the quote.
    before = "" if ">" in fence else "\n"
    return (f"{before}{fence}\n" if fence else "") + "\n</details>\n" * folds


def shares(lengths: Mapping[str, int], room: int) -> dict[str, int]:
    """Divide ``room`` among texts: short ones get what they need, and long ones equal shares of the rest."""
    sizes: dict[str, int] = {}
    for count, name in enumerate(sorted(lengths, key=lambda name: (lengths[name], name))):
        sizes[name] = min(lengths[name], (room - sum(sizes.values())) // (len(lengths) - count))
    return sizes
