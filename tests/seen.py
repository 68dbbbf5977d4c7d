"""Generated texts without the characters that are refused in every field: those that are not seen (the finding
character-unseen), and those that a YAML file cannot contain."""

from hypothesis import strategies as st

from components.contract.texts.printable import is_controlling, plain_letter


def _is_seen(letter: str) -> bool:
    return not is_controlling(letter) and (letter.isascii() or not plain_letter(letter))


LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff").filter(_is_seen)


def texts(most: int) -> st.SearchStrategy[str]:
    """Texts of at most so many characters."""
    return st.text(LETTERS, max_size=most)
