"""Parallel execution in dependency order."""

import heapq
import itertools
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Schedule:
    """Runs ``work`` on every item after its dependencies; dependents of a failed item are skipped.

    ``work`` returns whether it succeeded. Items accepted by ``trivial`` need no work. Ready items are processed by
    ``rank``, then in the order in which they became ready.
    """

    needs: Mapping[str, Collection[str]]
    work: Callable[[str], bool]
    trivial: Callable[[str], bool]
    skip: Callable[[str, str], None]
    workers: int = 8
    rank: Callable[[str], int] = lambda _: 0
    _waiting: dict[str, int] = field(default_factory=dict)
    _dependents: dict[str, list[str]] = field(default_factory=dict)
    _ready: list[tuple[int, int, str]] = field(default_factory=list)
    _order: Iterator[int] = field(default_factory=itertools.count)
    _left: int = 0
    _stopped: bool = False
    _error: BaseException | None = None
    _change: threading.Condition = field(default_factory=threading.Condition)

    def run(self) -> None:
        """Run all items. After an interrupt, finish running items and start no others."""
        for item, needed in self.needs.items():
            present = {need for need in needed if need in self.needs and need != item}
            self._waiting[item] = len(present)
            for need in present:
                self._dependents.setdefault(need, []).append(item)
        self._left = len(self.needs)
        with self._change:
            for item in [item for item, count in self._waiting.items() if not count]:
                self._release(item)
        threads = [
            threading.Thread(target=self._loop, daemon=True) for _ in range(min(self.workers, max(self._left, 0)))
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:  # interrupts are different exceptions
            self._stop()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            raise
        if self._error:
            raise self._error

    def _stop(self) -> None:
        with self._change:
            self._stopped = True
            self._change.notify_all()

    def _release(self, first: str) -> None:
        """Queue an item whose dependencies are done; complete trivial items and release their dependents."""
        items = [first]
        while items:
            item = items.pop()
            if not self.trivial(item):
                heapq.heappush(self._ready, (self.rank(item), next(self._order), item))
                continue
            self._left -= 1
            items += self._freed(item)

    def _freed(self, done: str) -> list[str]:
        freed = []
        for item in self._dependents.get(done, ()):
            if item in self._waiting:
                self._waiting[item] -= 1
                if not self._waiting[item]:
                    freed.append(item)
        return freed

    def _loop(self) -> None:
        while True:
            with self._change:
                while not self._ready and self._left and not self._stopped:
                    self._change.wait()
                if self._stopped or not self._left:
                    self._change.notify_all()
                    return
                item = heapq.heappop(self._ready)[2]
            try:
                succeeded = self.work(item)
            except BaseException as error:  # re-raised by run()
                self._error = self._error or error
                self._stop()
                return
            with self._change:
                self._finish(item, succeeded=succeeded)

    def _finish(self, item: str, *, succeeded: bool) -> None:
        self._left -= 1
        if succeeded:
            for freed in self._freed(item):
                self._release(freed)
        else:
            self._skip_dependents(item)
        self._change.notify_all()

    def _skip_dependents(self, failed: str) -> None:
        items = list(self._dependents.get(failed, ()))
        while items:
            item = items.pop()
            if self._waiting.pop(item, None) is None:
                continue
            self._left -= 1
            self.skip(item, failed)
            items += self._dependents.get(item, ())
