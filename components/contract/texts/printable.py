"""Escapes untrusted text for terminals and logs, so that it cannot move the cursor, hide text, or forge lines.

Letters of other alphabets that look like those of ASCII are escaped only in a word with letters of ASCII, where a
reader takes them for these: `vllm` with a Cyrillic letter is another word, but a sentence in Russian stays readable.
"""

import re

_ODD = re.compile(r"[^\x20-\x7e]")
_CONTROLLING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
"""Unicode categories of control characters, format characters (such as bidirectional and zero-width ones),
surrogates, line and paragraph separators, and spaces of other widths."""
_SEEN = " \u3000"
"""Spaces that readers expect: that of ASCII, and that of Chinese and Japanese text."""
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0d\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Characters without a glyph in other categories (Default_Ignorable_Code_Point, and the blank pattern of Braille);
U+FE0E and U+FE0F, which select the form of an emoji, are seen."""
LOOKALIKES = {
    letter: plain
    for letters, plains in (
        # Cyrillic
        (
            "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf\u0475",
            "aeopcyxijshdqwlv",
        ),
        (
            "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u04ae\u050c\u051c\u051a",
            "ABESIJKMHOPCTYXYGWQ",
        ),
        # Greek
        (
            "\u03b1\u03b9\u03bd\u03bf\u03c1\u03c5\u03f2\u03f3\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c",
            "aivopucjABEZHIKM",
        ),
        ("\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03f9\u037f", "NOPTYXCJ"),
        # Armenian
        ("\u057d\u0570\u0581\u0578\u0585\u053c\u0555\u054d", "uhgnoLOU"),
        # Latin
        ("\u0251\u0261\u0269", "agi"),
    )
    for letter, plain in zip(letters, plains, strict=True)
}
"""Letters of other alphabets and the letter of ASCII that they look like, from confusables.txt of Unicode Technical
Standard 39."""
_WORD = re.compile(r"\w*[^\W\x00-\x7f]\w*")
_LATIN = re.compile("[A-Za-z]")


def printable(text: str) -> str:
    """Escape control characters, line breaks, invisible characters, and letters that pass for others."""
    if text.isascii():
        return text if text.isprintable() else _ODD.sub(lambda match: escaped(match[0]), text)
    text = _WORD.sub(_without_lookalikes, text)
    return _ODD.sub(lambda match: escaped(match[0]), text)


def printable_lines(text: str) -> str:
    """Escape text as :func:`printable` does, but keep its line feeds."""
    return "\n".join(map(printable, text.split("\n")))


def escaped(letter: str) -> str:
    """Return a character, or its escape sequence if it is a control character."""
    return _sequence(letter) if is_controlling(letter) else letter


def _sequence(letter: str) -> str:
    number = ord(letter)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def is_controlling(letter: str) -> bool:
    """Whether a character can move, hide, or reorder others, ends a line, or is not seen."""
    if "\x20" <= letter <= "\x7e":
        return False
    import unicodedata

    if unicodedata.category(letter) in _CONTROLLING:
        return letter not in _SEEN
    return _IGNORABLE.match(letter) is not None


def plain_letter(letter: str) -> str:
    """Return the letter of ASCII that a letter looks like; empty if it looks like none."""
    if letter in LOOKALIKES:
        return LOOKALIKES[letter]
    if letter.isascii() or not letter.isalnum():
        return ""
    import unicodedata

    # Full-width letters and those of mathematics; superscripts are seen as such.
    kind, _, usual = unicodedata.decomposition(letter).partition(" ")
    plain = chr(int(usual, 16)) if kind in ("<wide>", "<font>") and " " not in usual else ""
    return plain if plain.isascii() else ""


def passes_for_latin(word: str) -> bool:
    """Whether a word has letters of ASCII beside letters that look like them."""
    return _LATIN.search(word) is not None and any(map(plain_letter, word))


def lookalikes(text: str) -> list[str]:
    """Return the letters of a text that readers take for those of ASCII.

    They are in a word with letters of ASCII, or the text has no other letters of their alphabet: a text in that
    language has, although single words in it look like Latin ones.
    """
    foreign = [letter for letter in text if letter > "\x7f" and letter.isalpha()]
    if foreign and all(map(plain_letter, foreign)):
        return foreign
    letters: list[str] = []
    for match in _WORD.finditer(text):
        if passes_for_latin(match[0]):
            letters += filter(plain_letter, match[0])
    return letters


def _without_lookalikes(match: re.Match[str]) -> str:
    word = match[0]
    if not passes_for_latin(word):
        return word
    return "".join(_sequence(letter) if plain_letter(letter) else letter for letter in word)
