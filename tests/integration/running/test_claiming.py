"""The claim when the database fails: tried five times, then the run is skipped rather than made unrecorded."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError

from scheduler.domain.claims import Claimed
from scheduler.domain.states import RefType
from scheduler.running.claiming import WAITS, Claimer
from scheduler.running.liveness import Liveness
from scheduler.runtime.loops import Stop
from scheduler.runtime.timing import Timing
from scheduler.store import claims
from scheduler.store.engine import open_engine
from scheduler.store.sealing import Seal
from scheduler.testing.factories import make_call
from tests.fixtures.postgres import PostgresServer
from tests.fixtures.rows import Rows
from tests.fixtures.session import wait_until
from tests.integration.running.conftest import HandFedConsumer

SHORT_WAITS = (0.05, 0.1, 0.2, 0.4)


@pytest.fixture
def own_rows(own_postgres: PostgresServer) -> Iterator[Rows]:
    engine = open_engine(own_postgres.create_database(), lock_timeout_seconds=0.5)
    yield Rows(engine)
    engine.dispose()


@pytest.fixture
def consumer() -> HandFedConsumer:
    return HandFedConsumer()


def _claimer(engine: Engine, consumer: HandFedConsumer, stop: Stop | None = None) -> Claimer:
    liveness = Liveness(engine, "call-runner", Timing())
    return Claimer(engine, consumer, liveness, RefType.CALL, Seal(), stop or Stop(), waits=SHORT_WAITS)


def _pending(rows: Rows, count: int = 1) -> list[UUID]:
    call = make_call()
    rows.add(call)
    return [rows.execution(call) for _ in range(count)]


def _tries(caplog: pytest.LogCaptureFixture) -> int:
    return sum(getattr(record, "action", "") == "claim_failed" for record in caplog.records)


def test_the_waits_are_those_of_the_contract() -> None:  # checklist 169
    assert WAITS == (1.0, 2.0, 4.0, 8.0)


def test_a_claim_that_fails_is_tried_again(rows: Rows, consumer: HandFedConsumer) -> None:  # checklist 169
    (guid,) = _pending(rows)
    rows.run("ALTER TABLE executions RENAME TO hidden")
    threading.Timer(0.3, lambda: rows.run("ALTER TABLE hidden RENAME TO executions")).start()
    ((claimed, _),) = _claimer(rows.engine, consumer).claim(consumer.deliver(guid)).taken
    assert claimed.guid == guid
    assert rows.read(guid).state == "RUNNING"


def test_when_several_are_claimed_one_by_one_those_that_succeed_are_kept(
    own_rows: Rows, consumer: HandFedConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, held = sorted(_pending(own_rows, 2))
    claim = claims.claim

    def collide(connection: Connection, kind: RefType, guids: Sequence[UUID], *others: Any) -> list[Claimed]:
        if len(guids) > 1:  # as two serial runs of one schedule do
            raise IntegrityError("", None, Exception())
        return claim(connection, kind, guids, *others)

    monkeypatch.setattr(claims, "claim", collide)
    with own_rows.engine.begin() as other:
        other.execute(text("SELECT FROM executions WHERE guid = :guid FOR UPDATE"), {"guid": held})
        ((claimed, _),) = _claimer(own_rows.engine, consumer).claim(consumer.deliver(first, held)).taken
    assert claimed.guid == first
    assert [own_rows.read(guid).state for guid in (first, held)] == ["RUNNING", "PENDING"]


def test_after_five_tries_the_run_is_skipped_and_marked_failed(
    rows: Rows, consumer: HandFedConsumer, caplog: pytest.LogCaptureFixture
) -> None:  # checklist 170, 171, 172, 174
    (guid,) = _pending(rows)
    rows.run("ALTER TABLE calls RENAME TO hidden")  # what the claim needs and the mark does not
    assert not _claimer(rows.engine, consumer).claim(consumer.deliver(guid)).taken
    assert _tries(caplog) == 5
    row = rows.read(guid)
    assert (row.state, row.reason, row.execution_start_time) == ("FAILED", "not_recorded", None)
    assert row.message.startswith("the run was skipped: ")
    assert consumer.acknowledged == [guid]


def test_a_database_that_is_away_for_both_rounds_leaves_the_row_pending(
    own_rows: Rows, own_postgres: PostgresServer, consumer: HandFedConsumer, caplog: pytest.LogCaptureFixture
) -> None:  # checklist 173
    (guid,) = _pending(own_rows)
    deliveries = consumer.deliver(guid)
    claimer = _claimer(own_rows.engine, consumer)
    own_postgres.stop()
    claiming = threading.Thread(target=claimer.claim, args=(deliveries,))
    claiming.start()
    wait_until(lambda: consumer.wishes == ["pause"], within=30, what="nothing more is taken")
    own_postgres.start()
    claiming.join(30)
    assert consumer.wishes == ["pause", "resume"]
    assert consumer.acknowledged == [guid]
    assert own_rows.read(guid).state == "PENDING"
    (given_up,) = [record for record in caplog.records if getattr(record, "action", "") == "claim_given_up"]
    assert given_up.execution_guid == str(guid)  # type: ignore[attr-defined]


def test_a_run_whose_claim_was_committed_unheard_is_skipped_too(
    rows: Rows, consumer: HandFedConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (guid,) = _pending(rows)
    claimer = _claimer(rows.engine, consumer)
    claim = claimer._claim

    def claim_and_lose_the_answer(*arguments: object) -> object:
        claim(*arguments)  # type: ignore[arg-type]
        return claimer.engine.connect().exec_driver_sql("SELECT 1 / 0")

    monkeypatch.setattr(claimer, "_claim", claim_and_lose_the_answer)
    assert not claimer.claim(consumer.deliver(guid)).taken
    assert (rows.read(guid).state, rows.read(guid).reason) == ("FAILED", "not_recorded")


def test_a_row_that_others_hold_too_long_is_given_back(rows: Rows, consumer: HandFedConsumer) -> None:
    (guid,) = _pending(rows)
    with rows.engine.begin() as connection:
        connection.exec_driver_sql("SELECT FROM executions FOR UPDATE")
        assert not _claimer(rows.engine, consumer).claim(consumer.deliver(guid)).taken
    assert consumer.given_back == [guid]
    assert rows.read(guid).state == "PENDING"


def test_a_stopping_runner_gives_back_what_it_cannot_claim(rows: Rows, consumer: HandFedConsumer) -> None:
    (guid,) = _pending(rows)
    stop = Stop()
    stop.set()
    rows.run("ALTER TABLE executions RENAME TO hidden")
    assert not _claimer(rows.engine, consumer, stop).claim(consumer.deliver(guid)).taken
    rows.run("ALTER TABLE hidden RENAME TO executions")
    assert consumer.given_back == [guid]
    assert rows.read(guid).state == "PENDING"


def test_a_call_whose_secrets_cannot_be_opened_is_claimed_with_the_reason(
    rows: Rows, consumer: HandFedConsumer
) -> None:
    good, bad = _pending(rows)[0], _pending(rows)[0]
    rows.run(
        "UPDATE calls SET auth_header = :sealed WHERE guid = (SELECT ref_guid FROM executions WHERE guid = :guid)",
        sealed="\x01fernet:gAAAAA",
        guid=bad,
    )
    taken = {
        claimed.guid: claimed for claimed, _ in _claimer(rows.engine, consumer).claim(consumer.deliver(good, bad)).taken
    }
    assert taken[good].work is not None
    assert taken[bad].work is None
    assert "SCHEDULER_ENCRYPTION_KEYS" in taken[bad].fault
