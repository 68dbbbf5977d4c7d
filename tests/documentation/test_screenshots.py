"""The pictures of pages: each is there in both widths and schemes, in a page, and small."""

import pytest
from PIL import Image

from tests.documentation.screenshots import FOLDER, REPORTS, SCHEMES, SITE, SIZES, picture_name
from tests.layers.modules import ROOT

_MAX_BYTES = 1_000_000
NAMES = [picture_name(page, width, scheme) for page in (*SITE, *REPORTS) for width in SIZES for scheme in SCHEMES]


def test_the_folder_has_these_and_no_others() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.png")) == sorted(NAMES)
    assert sum((FOLDER / name).stat().st_size for name in NAMES) < _MAX_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_has_the_width_that_it_names(name: str) -> None:
    width = int(name.split("-")[1])
    scale = 2 if width < 600 else 1
    with Image.open(FOLDER / name) as picture:
        assert picture.size == (width * scale, SIZES[width] * scale)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_dark_where_its_name_says_so(name: str) -> None:
    with Image.open(FOLDER / name) as picture:
        red, green, blue = picture.convert("RGB").resize((1, 1)).getpixel((0, 0))  # type: ignore[misc]
    assert (red + green + blue < 3 * 128) == ("dark" in name)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_in_a_page(name: str) -> None:
    pages = (ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"))
    assert any(f"pictures/{name}" in page.read_text(encoding="utf-8") for page in pages)
