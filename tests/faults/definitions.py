"""Random schedules whose instants the oracle can tell, as the API takes them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from tests.faults.history import Rules
from tests.faults.moments import SECOND, now
from tests.faults.oracle import Clockwork, Interval, Once, Shape

# Asia/Kathmandu is 5 h 45 min ahead all year.
_KATHMANDU_MINUTES = 345
_STEPS = (5, 10, 15, 20, 30)
_INTERVALS = (7, 11, 13, 17, 23, 45)


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A definition before anybody has accepted it; an interval's anchor is known only from the answer."""

    shape: Shape
    expression_type: str
    rules: Rules
    delete_after_run: bool = False

    def body(self) -> dict[str, Any]:
        """Return the definition as the API takes it."""
        body: dict[str, Any] = {
            "expression": self.shape.expression,
            "expression_type": self.expression_type,
            "overlap": self.rules.overlap,
            "misfire": {"policy": self.rules.misfire, "grace_seconds": self.rules.grace_seconds},
        }
        if self.delete_after_run:
            body["delete_after_run"] = True
        return body


@dataclass(frozen=True, kw_only=True)
class Suits:
    """What suits a job or call."""

    often: bool  # due more often than every 20 seconds
    serialize: bool  # it ends fast enough for each run to wait its turn
    once: bool = True  # may be a one-time schedule


def random_wish(random: Random, suits: Suits) -> Wish:
    """Return a definition."""
    kinds, weights = ["seconds", "list", "minutely", "zoned", "rate", "every", "once"], [30, 15, 10, 5, 20, 10, 10]
    kind = random.choices(kinds if suits.once else kinds[:-1], weights if suits.once else weights[:-1])[0]
    if kind == "once":
        at = (now() // SECOND + random.randint(3, 60)) * SECOND
        text = datetime.fromtimestamp(at // SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        shape, rules = Once(expression=text, at=at), random_rules(random, suits, overlap="allow")
        goes = random.random() < 0.5
        return Wish(shape=shape, expression_type="one_time", rules=rules, delete_after_run=goes)
    if kind in {"rate", "every"}:
        seconds = random.choice([each for each in _INTERVALS if suits.often or each >= 20])
        expression = f"PT{seconds}S" if kind == "rate" else f"@every {seconds}s"
        return Wish(
            shape=Interval(expression=expression, seconds=seconds, anchor=0),
            expression_type="fixed_rate" if kind == "rate" else "cron_expression",
            rules=random_rules(random, suits),
        )
    return Wish(
        shape=_clockwork(random, kind, suits), expression_type="cron_expression", rules=random_rules(random, suits)
    )


def random_rules(random: Random, suits: Suits, overlap: str = "") -> Rules:
    """Return policies that go together."""
    weights = [50, 15, 15, 20 if suits.serialize else 0]
    overlap = overlap or random.choices(["allow", "skip", "wait", "serialize"], weights)[0]
    policies = ["run_once", "skip"] if overlap == "skip" else ["run_once", "skip", "catch_up"]
    return Rules(overlap=overlap, misfire=random.choice(policies), grace_seconds=random.choice([2, 3, 5, 10, 60]))


def _clockwork(random: Random, kind: str, suits: Suits) -> Clockwork:
    if kind == "seconds":
        step = random.choice([each for each in _STEPS if suits.often or each >= 20])
        return Clockwork(expression=f"*/{step} * * * * *", seconds=tuple(range(0, 60, step)))
    if kind == "list":
        seconds = sorted(random.sample(range(60), 4 if suits.often else 2))
        return Clockwork(expression=f"{','.join(map(str, seconds))} * * * * *", seconds=tuple(seconds))
    if kind == "minutely":
        return Clockwork(expression="* * * * *", seconds=(0,))
    second = random.randrange(60)
    return Clockwork(
        expression=f"CRON_TZ=Asia/Kathmandu {second} */2 * * * *",
        seconds=(second,),
        minutes=tuple(range(0, 60, 2)),
        offset_minutes=_KATHMANDU_MINUTES,
    )
