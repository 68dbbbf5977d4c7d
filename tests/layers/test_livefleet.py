"""The surface of the live fleet: fewer than twenty names, each of which exists and is described."""

import livefleet

MOST = 19


def test_the_surface_is_fewer_than_twenty_names_that_exist() -> None:
    assert len(livefleet.SURFACE) <= MOST
    for name in livefleet.SURFACE:
        assert getattr(livefleet, name).__doc__, name
        assert f"``{name}``" in str(livefleet.__doc__)
