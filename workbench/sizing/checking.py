"""Check sizing results by a simulation: the targets hold with the answer, and are missed with one replica fewer."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from components.performance.sizing.checked import Checked, Played, adjusted
from livefleet import TokenPace

from .estimates import with_prefill
from .playing import ThinkingUsers, play

if TYPE_CHECKING:
    from components.performance.sizing.assessments import Assessment, Question
    from components.performance.sizing.cases import Profile
    from components.performance.sizing.closed import ClosedLoop

MOST_USERS = 5_000
"""Most users that are simulated: for more, a search takes minutes."""
_EXACT_USERS = 100
"""The load that breaks the answer is searched to one in so many users."""
_MOST_LOAD = 64
"""Times the users up to which the load that breaks the answer is searched."""


def checked_assessments(
    assessments: "Sequence[Assessment]", loop: "ClosedLoop", paces: "dict[tuple[str, int], TokenPace]"
) -> "tuple[Assessment, ...]":
    """Return assessments with the replicas of the simulation, cheapest first.

    Args:
        assessments: The results of the queueing model.
        loop: The users.
        paces: The estimated pace by accelerator and number of them; the others have that of their profile.
    """
    from components.performance.sizing.assessments import ranked

    found = []
    for assessment in assessments:
        runs = _Runs(assessment, loop, paces)
        found.append(adjusted(assessment, loop, runs.checked()))
    first, *others = ranked(found)
    if first.checked and first.checked.replicas and first.checked.most is None:
        first = replace(first, checked=_Runs(first, loop, paces).with_most(first.checked))
    return (first, *others)


class _Runs:
    """Runs of one candidate, each of them once."""

    def __init__(
        self, assessment: "Assessment", loop: "ClosedLoop", paces: "dict[tuple[str, int], TokenPace]"
    ) -> None:
        self.question, self.sized, self.loop = assessment.question, assessment.sized, loop
        profile = assessment.candidate.profile
        estimate = paces.get((profile.accelerator, profile.count))
        self.pace = replace(estimate, batch=profile.batch) if estimate else pace_of_profile(profile, self.question)
        self.play = functools.cache(self._play)

    def _play(self, replicas: int, users: int) -> Played:
        load = self.question.load
        sent = ThinkingUsers(users, self.loop.think_s, int(load.input_tokens), max(1, int(load.output_tokens)))
        return play(self.pace, replicas, sent)

    def holds(self, replicas: int, users: int) -> bool:
        return not self.play(replicas, users).breaks(self.question.targets)

    def checked(self) -> Checked:
        """Search for the least replicas, from those of the queueing model."""
        users, queueing = self.loop.users, self.sized.replicas if self.sized.is_feasible else None
        replicas = least(lambda number: self.holds(number, users), min(queueing or users, users), users)
        if replicas is None:
            return Checked(None, queueing, self.play(users, users))
        fewer = self.play(replicas - 1, users) if replicas > 1 else None
        return Checked(replicas, queueing, self.play(replicas, users), fewer)

    def with_most(self, checked: Checked) -> Checked:
        """Search for the most users that the replicas of a check serve, to one in a hundred."""
        replicas, good = checked.replicas or 1, self.loop.users
        bad = good
        while self.holds(replicas, bad):
            good, bad = bad, bad + max(1, bad // 2)
            if bad > min(MOST_USERS, self.loop.users * _MOST_LOAD):
                return checked
        while bad - good > max(1, good // _EXACT_USERS):
            middle = (good + bad) // 2
            good, bad = (middle, bad) if self.holds(replicas, middle) else (good, middle)
        return replace(checked, most=self.play(replicas, good), broken=self.play(replicas, bad))


def least(holds: Callable[[int], bool], start: int, most: int) -> int | None:
    """Return the least number from 1 to ``most`` for which something holds; None if it does for none.

    Args:
        holds: Whether it holds for a number; if so, it does for greater ones.
        start: Where to begin, near the answer.
        most: The greatest number.
    """
    step, good, bad = 1, most, 0
    if holds(start):
        good = start
        while good > 1 and holds(lower := max(1, good - step)):
            good, step = lower, step * 2
        bad = max(0, good - step)
    else:
        bad = start
        while not holds(higher := min(most, bad + step)):
            if higher == most:
                return None
            bad, step = higher, step * 2
        good = higher
    while good - bad > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def pace_of_profile(profile: "Profile", question: "Question") -> TokenPace:
    """Return the pace of a measured or published profile: a prompt takes the measured time, or else none."""
    pace = TokenPace(profile.alpha / 1000, profile.beta / 1000, 0.0, profile.batch)
    load, prompt = question.load, profile.gamma + profile.delta * int(question.load.input_tokens)
    if question.prefill_ms is not None:
        return with_prefill(pace, question.prefill_ms, load)
    return with_prefill(pace, prompt, load) if prompt and load.input_tokens else pace
