"""The checker on made-up histories: a sound one passes, and each kind of damage is found."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.checking.verdict import judge, report
from tests.faults.history import Fault, Hit, Observations, Phase, Row, Rules, SeenTask, Timeline, Work
from tests.faults.moments import SECOND
from tests.faults.oracle import Clockwork, Interval

START = 1_800_000_000 * SECOND
EVERY_10 = Clockwork(expression="*/10 * * * * *", seconds=(0, 10, 20, 30, 40, 50))


def _at(seconds: float) -> int:
    return START + int(seconds * SECOND)


def _phase(at: float = 0.5, **fields: Any) -> Phase:
    return Phase(**{"lo": _at(at - 0.1), "hi": _at(at), "shape": EVERY_10, **fields})


def _row(due: float, **fields: Any) -> Row:
    created = fields.pop("created", due + 0.2)
    ordinary = {
        "guid": f"run-{due:g}",
        "kind": "call",
        "ref": "call",
        "schedule": "schedule",
        "trigger": "schedule",
        "state": "SUCCEEDED",
        "scheduled": _at(due),
        "created": _at(created),
        "started": _at(created + 0.1),
        "ended": _at(created + 1),
        "attempt": 1,
    }
    return Row(**{**ordinary, **fields})


def _skip(first: float, last: float, count: int, reason: str, *, created: float) -> Row:
    return _row(
        last, state="SKIPPED", reason=reason, covers_from=_at(first), covers_to=_at(last), covers_count=count,
        created=created, started=None,
    )  # fmt: skip


def _covering(first: float, last: float, count: int, trigger: str = "misfire", *, created: float) -> Row:
    return _row(last, trigger=trigger, covers_from=_at(first), covers_to=_at(last), covers_count=count, created=created)


def _hit(row: Row, **fields: Any) -> Hit:
    assert row.started is not None
    ordinary = {
        "execution": row.guid, "schedule": row.schedule, "attempt": row.attempt, "arrived": row.started + SECOND // 100,
        "done": row.started + SECOND // 2, "status": 200,
    }  # fmt: skip
    return Hit(**{**ordinary, **fields})


def _seen(
    rows: Sequence[Row], *, phases: Sequence[Phase] = (), hits: Sequence[Hit] | None = None, **fields: Any
) -> Observations:
    ran = [row for row in rows if row.started is not None and row.kind == "call"]
    ordinary: dict[str, Any] = {
        "timelines": [Timeline(guid="schedule", kind="call", ref="call", phases=list(phases) or [_phase()])],
        "work": {"call": Work(guid="call", kind="call")},
        "manual": {},
        "rows": rows,
        "hits": [_hit(row) for row in ran] if hits is None else hits,
        "tasks": [],
        "faults": [],
        "until": _at(45),
    }
    return Observations(**{**ordinary, **fields})


def _sound() -> list[Row]:
    return [_row(due) for due in (10, 20, 30, 40)]


def _broken(seen: Observations) -> set[str]:
    verdict = judge(seen)
    assert report(verdict)
    return verdict.broken


def test_a_sound_history_passes() -> None:
    assert _broken(_seen(_sound())) == set()


_DAMAGE: dict[str, tuple[Callable[[list[Row]], list[Row]], str]] = {
    "lost": (lambda rows: [rows[0], *rows[2:]], "an instant lost"),
    "twice": (lambda rows: [*rows, replace(rows[1], guid="again")], "an instant twice"),
    "not due": (lambda rows: [*rows, _row(33)], "not due"),
    "covered too": (lambda rows: [*rows, _covering(10, 30, 3, created=31)], "an instant twice"),
    "open": (lambda rows: [replace(rows[0], state="RUNNING", ended=None), *rows[1:]], "left open"),
    "late": (lambda rows: [replace(rows[0], created=_at(75)), *rows[1:]], "wrong policy"),
    "missed": (lambda rows: [rows[0], _skip(20, 20, 1, "misfire", created=20.1), *rows[2:]], "wrong policy"),
    "overlap": (lambda rows: [rows[0], _skip(20, 20, 1, "overlap", created=20.1), *rows[2:]], "wrong policy"),
    "paused": (lambda rows: [rows[0], _skip(20, 20, 1, "paused", created=20.1), *rows[2:]], "wrong policy"),
    "runner": (
        lambda rows: [replace(rows[0], state="FAILED", reason="runner_lost"), *rows[1:]],
        "lost without a cause",
    ),
}


@pytest.mark.parametrize("kind", _DAMAGE)
def test_damage_to_the_rows_is_found(kind: str) -> None:
    damage, found = _DAMAGE[kind]
    assert found in _broken(_seen(damage(_sound())))


def test_missed_instants_are_made_up_for_as_the_policy_says() -> None:
    at_80, at_90 = _row(80, created=85), _row(90)
    for rules, recorded in [
        (Rules(grace_seconds=5), [_covering(10, 70, 7, created=85)]),
        (Rules(grace_seconds=5, misfire="skip"), [_skip(10, 70, 7, "misfire", created=85)]),
        (
            Rules(grace_seconds=5, misfire="catch_up"),
            [_row(due, created=85, trigger="catch_up") for due in range(10, 80, 10)],
        ),
    ]:
        phases = [_phase(rules=rules)]
        assert _broken(_seen([*recorded, at_80, at_90], phases=phases, until=_at(95))) == set()
        other = [_phase(rules=replace(rules, misfire={"run_once": "skip"}.get(rules.misfire, "run_once")))]
        assert "wrong policy" in _broken(_seen([*recorded, at_80, at_90], phases=other, until=_at(95)))


def test_a_range_that_counts_wrongly_or_is_not_all_is_found() -> None:
    phases = [_phase(rules=Rules(grace_seconds=5))]
    rest = [_row(80, created=85), _row(90)]
    assert "wrong range" in _broken(_seen([_covering(10, 70, 6, created=85), *rest], phases=phases, until=_at(95)))
    two = [_covering(10, 40, 4, created=85), _covering(50, 70, 3, created=85)]
    assert "wrong policy" in _broken(_seen([*two, *rest], phases=phases, until=_at(95)))


def test_a_range_within_the_window_of_a_change_is_not_judged() -> None:
    late = Phase(lo=_at(60), hi=_at(95), shape=EVERY_10, rules=Rules(grace_seconds=5))
    phases = [_phase(rules=Rules(grace_seconds=5)), late]
    rows = [_covering(10, 70, 7, created=85), _covering(80, 90, 2, created=96)]
    assert _broken(_seen(rows, phases=phases, until=_at(96))) == set()


def test_a_pause_is_recorded_when_it_ends_as_the_resume_says() -> None:
    def phases(resume: str) -> list[Phase]:
        return [_phase(), _phase(15, enabled=False), _phase(35, resume=resume)]

    ran = [_row(10), _row(40)]
    skipped = [*ran, _skip(20, 30, 2, "paused", created=35)]
    once = [*ran, _covering(20, 30, 2, created=35)]
    each = [*ran, *(_row(due, created=35.5, trigger="catch_up") for due in (20, 30))]
    for resume, sound in [("skip_paused", skipped), ("run_once", once), ("catch_up", each)]:
        for rows in (skipped, once, each):
            broken = _broken(_seen(rows, phases=phases(resume)))
            assert broken == (set() if rows is sound else {"wrong policy"})
    assert _broken(_seen(ran, phases=phases("skip_paused"))) == {"an instant lost"}
    assert _broken(_seen([_row(10), _row(20)], phases=phases("skip_paused")[:2])) == {"wrong policy"}
    assert _broken(_seen([_row(10)], phases=phases("skip_paused")[:2])) == set()


def test_an_instant_within_a_change_may_fall_under_either_definition() -> None:
    wide = Phase(lo=_at(19), hi=_at(21), shape=Clockwork(expression="5 * * * * *", seconds=(5,)))
    phases = [_phase(), wide]
    assert _broken(_seen([_row(10)], phases=phases)) == set()
    assert _broken(_seen([_row(10), _row(20)], phases=phases)) == set()
    assert _broken(_seen([_row(10), _row(30)], phases=phases)) == {"not due"}


def test_a_fixed_rate_counts_from_its_anchor() -> None:
    shape = Interval(expression="PT15S", seconds=15, anchor=_at(0.4))
    assert shape.due(_at(0.4), _at(45.4)) == [_at(15.4), _at(30.4), _at(45.4)]
    assert shape.due(_at(30.4), _at(31)) == []


def test_overlapping_runs_are_found() -> None:
    long = replace(_row(10), ended=_at(24))
    skip = [_phase(rules=Rules(overlap="skip"))]
    skipped = _skip(20, 20, 1, "overlap", created=20.1)
    assert _broken(_seen([long, skipped, _row(30), _row(40)], phases=skip)) == set()
    assert "overlap" in _broken(_seen([long, _row(20), _row(30), _row(40)], phases=skip))
    wait = [_phase(rules=Rules(overlap="wait"))]
    waiting = replace(_row(20), started=_at(24.5), ended=_at(25))
    assert _broken(_seen([long, waiting, _row(30), _row(40)], phases=wait)) == set()
    longer, too_long = replace(long, ended=_at(34)), replace(waiting, started=_at(34.5), ended=_at(35))
    second = replace(_row(30), started=_at(35.5), ended=_at(36))
    rows = [longer, too_long, second, _row(40)]
    hits = [_hit(longer, done=_at(33.9)), *map(_hit, rows[1:])]
    assert _broken(_seen(rows, phases=wait, hits=hits)) == {"overlap"}


def test_serial_runs_side_by_side_are_found() -> None:
    rows = [replace(row, serial=True) for row in _sound()]
    hits = [_hit(row) for row in rows]
    assert _broken(_seen(rows, hits=hits)) == set()
    assert _broken(_seen(rows, hits=[replace(hits[0], done=_at(25)), *hits[1:]])) == {"serial runs overlap"}
    late = [replace(rows[0], ended=_at(28)), *rows[1:]]
    assert _broken(_seen(late, hits=hits)) == {"serial runs overlap"}
    # Its runner was stopped and given up, others went on, and then the outcome came after all.
    much_later = [replace(rows[0], ended=_at(70)), *rows[1:]]
    assert _broken(_seen(much_later, hits=hits)) == set()
    lost = [replace(rows[0], state="FAILED", reason="timeout"), *rows[1:]]
    assert _broken(_seen(lost, hits=[replace(hits[0], done=_at(25)), *hits[1:]])) == set()


def test_calls_and_tasks_beyond_what_is_allowed_are_found() -> None:
    rows = _sound()
    hits = [_hit(row) for row in rows]
    assert _broken(_seen(rows, hits=[*hits, hits[0]])) == {"a call twice"}
    assert _broken(_seen(rows, hits=[*hits, replace(hits[0], attempt=2)])) == {"a call twice"}
    assert _broken(_seen(rows, hits=hits[1:])) == {"a false outcome"}
    assert _broken(_seen(rows, hits=[*hits, replace(hits[0], execution="unknown")])) == {"a run without a record"}

    job = replace(rows[0], kind="job", task="task-1")
    task = SeenTask(guid="task-1", execution=job.guid, created=_at(10.3), state="SUCCEEDED")
    second = replace(task, guid="task-2", created=_at(10.4))
    cancelled = replace(second, state="FAILED", failure="task was cancelled")
    running = replace(second, state="RUNNING")
    assert _broken(_seen([job, *rows[1:]], tasks=[task])) == set()
    assert _broken(_seen([job, *rows[1:]], tasks=[task, cancelled])) == set()
    assert _broken(_seen([job, *rows[1:]], tasks=[task, second])) == {"two tasks"}
    assert _broken(_seen([job, *rows[1:]], tasks=[task, running])) == {"two tasks", "a task unfollowed"}


def test_what_runs_after_its_deletion_is_found() -> None:
    phases = [_phase(), Phase(lo=_at(21), hi=_at(21.1), shape=None)]
    rows = [_row(10), _row(20)]
    assert _broken(_seen(rows, phases=phases)) == set()
    assert "ran after deletion" in _broken(_seen([*rows, _row(30)], phases=phases))
    late = [rows[0], replace(rows[1], started=_at(22), ended=_at(23))]
    assert _broken(_seen(late, phases=phases)) == {"ran after deletion"}
    job = replace(rows[1], kind="job", task="task", started=_at(22), ended=_at(99))
    task = SeenTask(guid="task", execution=job.guid, created=_at(20.5), state="SUCCEEDED")
    assert _broken(_seen([rows[0], job], phases=phases, tasks=[task])) == set()
    late_task = replace(task, created=_at(90))
    assert _broken(_seen([rows[0], job], phases=phases, tasks=[late_task])) == {"ran after deletion"}
    assert _broken(_seen([rows[0]], phases=phases)) == {"an instant lost"}


def test_a_lost_run_is_explained_by_a_fault() -> None:
    rows = [replace(_row(10), state="FAILED", reason="runner_lost"), *_sound()[1:]]
    fault = Fault(kind="killed", target="call-runner-1", began=_at(10.5), ended=_at(12))
    assert _broken(_seen(rows, faults=[fault])) == set()


def test_manual_runs_are_counted_by_their_keys() -> None:
    manual = replace(_row(12), guid="manual", scheduled=None, trigger="manual", schedule=None, key="execute:a")
    assert _broken(_seen([*_sound(), manual], manual={"execute:a": "manual"})) == set()
    assert _broken(_seen(_sound(), manual={"execute:a": "manual"})) == {"a manual run lost"}
    again = replace(manual, guid="manual-2")
    assert _broken(_seen([*_sound(), manual, again], manual={"execute:a": "manual"})) == {"a manual run twice"}
