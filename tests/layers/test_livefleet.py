"""The surface of the live fleet: few names, each of which exists and is described."""

import livefleet

MOST = 22


def test_the_surface_is_small_and_its_names_exist() -> None:
    assert len(livefleet.SURFACE) <= MOST
    for name in livefleet.SURFACE:
        assert getattr(livefleet, name).__doc__, name
        assert f"``{name}``" in str(livefleet.__doc__)
