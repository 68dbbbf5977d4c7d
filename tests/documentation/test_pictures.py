"""The pictures show what the commands print."""

import html
import re

from documentation.pictures import PICTURES, PLAN, picture, printed
from livefleet.watching.view import _GROUPS, _MODELS


def words(svg: str) -> list[str]:
    """The words on a picture, in reading order, without the window's frame."""
    texts = re.findall(r"<text[^>]*clip-path[^>]*>(.*?)</text>", svg)
    return html.unescape(" ".join(texts)).replace("\xa0", " ").split()


def test_the_plan_is_what_is_printed() -> None:
    shown = words((PICTURES / "plan.svg").read_text(encoding="utf-8"))
    assert " ".join(shown) == f"$ workbench {' '.join(PLAN)} " + " ".join(printed(PLAN).split())


def test_a_picture_that_is_out_of_date_is_noticed() -> None:
    assert words(picture(PLAN, "another plan")) != words((PICTURES / "plan.svg").read_text(encoding="utf-8"))


def test_the_live_fleet_is_shown_with_the_columns_of_today() -> None:
    """What is recorded differs each time; the table is that of the command."""
    shown = words((PICTURES / "live.svg").read_text(encoding="utf-8"))
    assert shown[:3] == ["$", "workbench", "watch"]
    assert set(" ".join((*_MODELS.names, *_GROUPS.names)).split()) <= set(shown)


def test_no_picture_loads_anything() -> None:
    for file in PICTURES.glob("*.svg"):
        addresses = set(re.findall(r"https?://[^\s\"')]+", file.read_text(encoding="utf-8")))
        assert addresses <= {"http://www.w3.org/2000/svg"}
