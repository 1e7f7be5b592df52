"""The claim makes one runner the owner, whatever is delivered to whom and how often."""

import itertools
import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from scheduler.domain.claims import Claimed, Finish, GiveBack, TryAgain
from scheduler.domain.guids import new_guid
from scheduler.domain.states import ExecutionState, Reason, RefType
from scheduler.store import claims
from scheduler.store.arrays import array
from scheduler.store.claims import Claimant
from scheduler.store.engine import open_engine
from scheduler.store.outcomes import write_outcomes
from scheduler.store.prepared import execute
from scheduler.store.sealing import Seal
from scheduler.testing.factories import make_call, make_job, make_schedule
from tests.fixtures.rows import InTransaction, Rows

Claim = Callable[..., list[Claimed]]

SUCCEEDED = Finish(state=ExecutionState.SUCCEEDED, message="POST success", http_status=204, duration_ms=12)


_BACKLOG = """
    INSERT INTO executions (guid, ref_type, ref_guid, space_guid, schedule_guid, scheduled_time, trigger, state,
        created_at)
    SELECT g, 'call', %(ref)s, 'space', %(schedule)s, now() + n * interval '1 s', 'schedule', 'PENDING', now()
    FROM unnest(CAST(%(guids)s AS uuid[])) WITH ORDINALITY AS g (g, n)
"""
_EXPLAIN = f"EXPLAIN {claims._CLAIMS[RefType.CALL].executing()}"


@pytest.fixture
def claim(in_transaction: InTransaction) -> Claim:
    def call(*guids: UUID, kind: RefType = RefType.CALL, claimant: Claimant | None = None) -> list[Claimed]:
        who = claimant or Claimant(runner=new_guid(), token=new_guid())
        claimed: list[Claimed] = in_transaction(claims.claim, kind, list(guids), who, Seal())
        return claimed

    return call


def test_a_pending_execution_is_claimed_with_its_call(rows: Rows, claim: Claim) -> None:
    call = make_call()
    rows.add(call)
    guid = rows.execution(call)
    (claimed,) = claim(guid)
    assert (claimed.guid, claimed.attempt, claimed.work) == (guid, 1, call)
    row = rows.read(guid)
    assert (row.state, row.claim_token, row.attempt) == ("RUNNING", claimed.claim_token, 1)
    assert row.execution_start_time is not None


def test_a_message_that_comes_twice_claims_once(rows: Rows, claim: Claim) -> None:  # checklist 178
    call = make_call()
    rows.add(call)
    guid = rows.execution(call)
    assert len(claim(guid)) == 1
    assert claim(guid) == []


def test_a_claim_reads_no_more_the_longer_the_backlog_is(rows: Rows, database_url: str) -> None:
    engine = open_engine(database_url, for_prepared=True)
    call = make_call()
    schedule = make_schedule(call)
    rows.add(call, schedule)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")  # while there is no execution yet, and never again
    guids = [str(new_guid()) for _ in range(9_000)]
    with engine.begin() as connection:
        connection.exec_driver_sql(_BACKLOG, {"ref": call.guid, "schedule": schedule.guid, "guids": guids})
    parameters = {"guids": array(guids[:10]), "runner": new_guid(), "token": new_guid()}
    with engine.connect() as connection:
        connection.exec_driver_sql("SET plan_cache_mode = force_generic_plan")
        execute(connection, [claims._CLAIMS[RefType.CALL]], parameters)
        plan = [line.strip() for line in connection.exec_driver_sql(_EXPLAIN, parameters).scalars()]
    engine.dispose()
    assert not [line for line in plan if "hashed" in line]
    found_by = "\n".join(itertools.takewhile(lambda line: not line.startswith("SubPlan"), plan))
    assert "executions_pkey" in found_by
    assert "executions_live" not in found_by


def test_of_many_runners_at_once_one_gets_the_execution(rows: Rows, claim: Claim) -> None:
    call = make_call()
    rows.add(call)
    guids = [rows.execution(call) for _ in range(20)]
    taken: list[UUID] = []
    threads = [threading.Thread(target=lambda: taken.extend(each.guid for each in claim(*guids))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(guids)


def test_a_claim_repeated_after_an_unclear_commit_finds_its_own_row(rows: Rows, claim: Claim) -> None:
    call = make_call()
    rows.add(call)
    guid = rows.execution(call)
    claimant = Claimant(runner=new_guid(), token=new_guid())
    claim(guid, claimant=claimant)
    (again,) = claim(guid, claimant=claimant)
    assert (again.guid, again.attempt) == (guid, 1)


def test_an_execution_whose_call_is_gone_ends(rows: Rows, claim: Claim) -> None:
    call = make_call()
    guid = rows.execution(call)
    assert claim(guid) == []
    row = rows.read(guid)
    assert (row.state, row.reason) == ("FAILED", "deleted")
    assert row.message == "the call was deleted before this run was started"


def test_a_job_that_may_have_a_task_is_claimed_even_when_the_job_is_gone(rows: Rows, claim: Claim) -> None:
    job = make_job()
    guid = rows.execution(job, look_up_first=True)
    (claimed,) = claim(guid, kind=RefType.JOB)
    assert claimed.look_up_first
    assert claimed.work is None


def test_a_cancelled_execution_is_never_started(rows: Rows, claim: Claim) -> None:
    call = make_call()
    rows.add(call)
    guid = rows.execution(call, cancel_requested_at=rows.now())
    assert claim(guid) == []
    assert (rows.read(guid).state, rows.read(guid).reason) == ("FAILED", "cancelled")


def test_an_execution_past_its_start_deadline_is_never_started(rows: Rows, claim: Claim) -> None:
    call = make_call()
    rows.add(call)
    guid = rows.execution(call, age=10, start_by=rows.now())
    assert claim(guid) == []
    assert (rows.read(guid).state, rows.read(guid).reason) == ("FAILED", "too_late")


def test_an_execution_that_is_not_due_yet_goes_back_to_the_relay(rows: Rows, claim: Claim) -> None:
    call = make_call()
    rows.add(call)
    rows.run("SELECT 1")
    guid = rows.execution(call, queued_at=rows.now())
    rows.run("UPDATE executions SET not_before = now() + interval '1 hour'")
    assert claim(guid) == []
    row = rows.read(guid)
    assert (row.state, row.queued_at) == ("PENDING", None)


def test_a_serial_run_waits_for_the_one_that_runs(rows: Rows, claim: Claim, in_transaction: InTransaction) -> None:
    call = make_call()
    schedule = make_schedule(call)
    rows.add(call, schedule)
    first, second = (
        rows.execution(call, schedule, serial=True, scheduled_time=rows.now(), queued_at=rows.now()) for _ in range(2)
    )
    (running,) = claim(first)
    assert claim(second) == []
    assert rows.read(second).queued_at is None
    in_transaction(write_outcomes, [(running, SUCCEEDED)])
    assert [each.guid for each in claim(second)] == [second]


def test_a_serial_run_waits_for_an_older_one(rows: Rows, claim: Claim) -> None:
    call = make_call()
    schedule = make_schedule(call)
    rows.add(call, schedule)
    first, second = (rows.execution(call, schedule, serial=True, scheduled_time=rows.now()) for _ in range(2))
    assert claim(second) == []
    assert rows.read(first).state == "PENDING"


def test_two_serial_rows_can_never_run_together(rows: Rows) -> None:
    call = make_call()
    schedule = make_schedule(call)
    rows.add(call, schedule)
    rows.execution(call, schedule, serial=True, state="RUNNING")
    with pytest.raises(IntegrityError):
        rows.execution(call, schedule, serial=True, state="RUNNING")


def test_the_previous_execution_is_the_last_that_really_started(rows: Rows, claim: Claim) -> None:
    job = make_job()
    schedule = make_schedule(job)
    rows.add(job, schedule)
    first, skipped, third = (rows.execution(job, schedule, scheduled_time=rows.now()) for _ in range(3))
    (claimed,) = claim(first, kind=RefType.JOB)
    assert claimed.previous_execution_guid is None
    rows.run("UPDATE executions SET task_guid = 'task-1' WHERE guid = :guid", guid=first)
    rows.run("UPDATE executions SET state = 'SKIPPED' WHERE guid = :guid", guid=skipped)
    (claimed,) = claim(third, kind=RefType.JOB)
    assert (claimed.previous_execution_guid, claimed.previous_task_guid) == (first, "task-1")


def test_a_claim_waits_for_a_relay_and_gives_up_in_time(rows: Rows, claim: Claim, engine: Engine) -> None:
    call = make_call()
    rows.add(call)
    guid = rows.execution(call)
    with engine.begin() as relay:
        relay.exec_driver_sql("SELECT 1 FROM executions FOR UPDATE")
        with pytest.raises(DBAPIError):
            claim(guid)
    assert len(claim(guid)) == 1


def test_an_outcome_is_written_once(rows: Rows, claim: Claim, in_transaction: InTransaction) -> None:
    call = make_call()
    rows.add(call)
    guid = rows.execution(call)
    (claimed,) = claim(guid)
    assert in_transaction(write_outcomes, [(claimed, SUCCEEDED)]) == 1
    assert in_transaction(write_outcomes, [(claimed, Finish(state=ExecutionState.FAILED))]) == 0
    row = rows.read(guid)
    assert (row.state, row.message, row.http_status, row.duration_ms) == ("SUCCEEDED", "POST success", 204, 12)
    assert row.execution_end_time >= row.execution_start_time


def test_an_outcome_counts_after_the_run_was_given_up_as_lost(
    rows: Rows, claim: Claim, in_transaction: InTransaction
) -> None:
    call = make_call()
    rows.add(call)
    guid = rows.execution(call)
    (claimed,) = claim(guid)
    rows.run("UPDATE executions SET state = 'FAILED', reason = 'runner_lost'")
    assert in_transaction(write_outcomes, [(claimed, SUCCEEDED)]) == 1
    assert (rows.read(guid).state, rows.read(guid).reason) == ("SUCCEEDED", None)


def test_an_outcome_of_a_run_that_was_claimed_anew_is_dropped(
    rows: Rows, claim: Claim, in_transaction: InTransaction
) -> None:
    call = make_call()
    rows.add(call)
    guid = rows.execution(call)
    (claimed,) = claim(guid)
    rows.run("UPDATE executions SET state = 'PENDING', claim_token = NULL")
    claim(guid)
    assert in_transaction(write_outcomes, [(claimed, SUCCEEDED)]) == 0
    assert rows.read(guid).state == "RUNNING"


def test_a_retry_is_the_same_row_later_without_a_start_deadline(
    rows: Rows, claim: Claim, in_transaction: InTransaction
) -> None:
    call = make_call()
    rows.add(call)
    guid = rows.execution(call, queued_at=rows.now(), start_by=rows.now().replace(year=2099))
    (claimed,) = claim(guid)
    again = TryAgain(delay_seconds=60, reason=Reason.HTTP_STATUS, message="answered 503", http_status=503)
    in_transaction(write_outcomes, [(claimed, again)])
    row = rows.read(guid)
    assert (row.state, row.attempt, row.queued_at, row.start_by, row.message) == (
        "PENDING", 1, None, None, "answered 503",
    )  # fmt: skip
    assert 50 < (row.not_before - rows.now()).total_seconds() <= 60


def test_giving_back_takes_the_attempt_back_and_keeps_the_start_deadline(
    rows: Rows, claim: Claim, in_transaction: InTransaction
) -> None:
    call = make_call()
    rows.add(call)
    deadline = rows.now().replace(year=2099)
    guid = rows.execution(call, start_by=deadline)
    (claimed,) = claim(guid)
    in_transaction(write_outcomes, [(claimed, GiveBack())])
    row = rows.read(guid)
    assert (row.state, row.attempt, row.start_by, row.execution_start_time) == ("PENDING", 0, deadline, None)
    assert len(claim(guid)) == 1


def test_a_run_that_could_not_be_recorded_is_marked_failed(
    rows: Rows, in_transaction: InTransaction
) -> None:  # checklist 171
    call = make_call()
    rows.add(call)
    guid = rows.execution(call)
    assert in_transaction(claims.skip_unrecorded, [guid], new_guid(), "the run was skipped") == 1
    row = rows.read(guid)
    assert (row.state, row.reason, row.message) == ("FAILED", "not_recorded", "the run was skipped")
