"""The pictures show what the commands print."""

import html
import re

from documentation.pictures import PICTURES, PLAN, picture, printed


def words(svg: str) -> list[str]:
    """The words on a picture, in reading order, without the window's frame."""
    texts = re.findall(r"<text[^>]*clip-path[^>]*>(.*?)</text>", svg)
    return html.unescape(" ".join(texts)).replace("\xa0", " ").split()


def test_the_plan_is_what_is_printed() -> None:
    shown = words((PICTURES / "plan.svg").read_text(encoding="utf-8"))
    assert " ".join(shown) == f"$ workbench {' '.join(PLAN)} " + " ".join(printed(PLAN).split())


def test_a_picture_that_is_out_of_date_is_noticed() -> None:
    assert words(picture(PLAN, "another plan")) != words((PICTURES / "plan.svg").read_text(encoding="utf-8"))


def test_no_picture_loads_anything() -> None:
    for file in PICTURES.glob("*.svg"):
        addresses = set(re.findall(r"https?://[^\s\"')]+", file.read_text(encoding="utf-8")))
        assert addresses <= {"http://www.w3.org/2000/svg"}
