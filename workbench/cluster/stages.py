"""Which stages the kwok of a cluster plays: its own, or those of a live fleet."""

from pathlib import Path

from livefleet import live_stages


class KwokStages:
    """Which stages the kwok of one cluster plays.

    Args:
        folder: That of the cluster.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def live(self) -> bool:
        """Whether they are those of a live fleet; remembered until the cluster is stopped."""
        return self._note.exists()

    @live.setter
    def live(self, live: bool) -> None:
        if live:
            self._note.touch()
        else:
            self._note.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self._folder / "kwok.live"

    def file(self, usual: Path) -> Path:
        """Return the file to start kwok with, given its own stages."""
        if not self.live:
            return usual
        path = self._folder / "live-stages.yaml"
        path.write_text(live_stages(usual.read_text()))
        return path
