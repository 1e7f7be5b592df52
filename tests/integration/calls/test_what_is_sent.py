"""What an endpoint receives for a call, and what its answer makes of the run."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from scheduler.domain.claims import Finish, GiveBack
from scheduler.domain.guids import new_guid
from scheduler.domain.states import ExecutionState, Reason
from scheduler.testing.factories import make_claimed
from scheduler_call_runner.exchange import Exchange
from scheduler_call_runner.performing import CallPerformer
from tests.fixtures.raw_endpoints import Serve
from tests.integration.calls.conftest import Attempt, make_call_to


def test_a_call_is_a_post_with_its_authorization_and_nothing_in_it(
    serve: Serve, attempt: Attempt
) -> None:  # checklist 97, 165
    endpoint = serve()
    attempt(f"{endpoint.url}/run?x=1", auth_header="bearer s3cret")
    (request,) = endpoint.requests
    assert request.line == "POST /run?x=1 HTTP/1.1"
    assert request.headers["authorization"] == "bearer s3cret"
    assert request.headers["content-length"] == "0"
    assert request.headers["host"] == f"127.0.0.1:{endpoint.port}"
    assert request.body == b""


def test_an_endpoint_learns_which_run_this_is(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve()
    due = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
    claimed = make_claimed(schedule_guid=new_guid(), scheduled_time=due, attempt=3, previous_execution_guid=new_guid())
    attempt(endpoint.url, claimed=claimed)
    headers = endpoint.requests[0].headers
    assert headers["x-scheduler-execution-guid"] == headers["idempotency-key"] == str(claimed.guid)
    assert headers["x-scheduler-schedule-guid"] == str(claimed.schedule_guid)
    assert headers["x-scheduler-scheduled-time"] == "2026-03-01T02:00:00Z"
    assert headers["x-scheduler-attempt"] == "3"
    assert headers["x-scheduler-previous-execution-guid"] == str(claimed.previous_execution_guid)
    assert headers["user-agent"].startswith("ocf-scheduler/")


def test_a_manual_run_has_no_schedule_to_speak_of(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve()
    attempt(endpoint.url)
    assert not {"x-scheduler-schedule-guid", "x-scheduler-scheduled-time"} & set(endpoint.requests[0].headers)


def test_method_headers_and_body_are_the_users(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve()
    attempt(endpoint.url, method="PUT", headers={"Content-Type": "text/plain", "X-Mine": "ünï"}, body="grüße")
    (request,) = endpoint.requests
    assert request.line == "PUT / HTTP/1.1"
    assert (request.headers["content-type"], request.headers["x-mine"]) == ("text/plain", "ünï")
    assert request.body == "grüße".encode()


def test_what_frames_the_request_cannot_be_set_by_a_header(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve()
    attempt(
        endpoint.url,
        headers={
            "Host": "other",
            "Content-Length": "100",
            "Transfer-Encoding": "chunked",
            "X-Scheduler-Execution-Guid": "made-up",
        },
    )
    headers = endpoint.requests[0].headers
    assert headers["host"] == f"127.0.0.1:{endpoint.port}"
    assert headers["content-length"] == "0"
    assert "transfer-encoding" not in headers
    assert headers["x-scheduler-execution-guid"] != "made-up"


@pytest.mark.parametrize(
    "options",
    [
        {"method": "GET / HTTP/1.1\r\nX: y\r\n\r\nPOST"},
        {"method": "CONNECT"},
        {"headers": {"X": "a\r\nY: b"}},
        {"headers": {"X\r\nY": "b"}},
        {"auth_header": "a\nb"},
        {"url": "ftp://example.com/"},
        {"url": "//example.com/"},
        {"url": "http://"},
        {"url": "http://exa mple.com/"},
        {"url": "http://[::1/"},
        {"url": "http://a%00b/"},
        {"url": "http://a%0ab/"},
        {"url": "nonsense"},
    ],
)
def test_a_definition_that_cannot_be_sent_fails_the_run(
    serve: Serve, attempt: Attempt, options: dict[str, object]
) -> None:  # checklist 166
    endpoint = serve()
    outcome = attempt(**{"url": endpoint.url, **options})
    assert isinstance(outcome, Finish)
    assert (outcome.state, outcome.reason) == (ExecutionState.FAILED, Reason.BAD_REQUEST)
    assert endpoint.requests == []


def test_control_characters_in_a_url_cannot_begin_a_new_line(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve()
    attempt(f"{endpoint.url}/a\r\nX-Evil: 1")
    assert endpoint.requests[0].line == "POST /a%0D%0AX-Evil:%201 HTTP/1.1"


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_is_a_success(serve: Serve, attempt: Attempt, status: int) -> None:  # checklist 166
    endpoint = serve(answer=b"HTTP/1.1 %d Whatever\r\nContent-Length: 0\r\n\r\n" % status)
    outcome = attempt(endpoint.url)
    assert isinstance(outcome, Finish)
    assert (outcome.state, outcome.message, outcome.http_status) == (ExecutionState.SUCCEEDED, "POST success", status)
    assert outcome.duration_ms is not None


@pytest.mark.parametrize("status", [301, 404, 429, 500, 503])
def test_any_other_status_is_a_failure_with_its_name(
    serve: Serve, attempt: Attempt, status: int
) -> None:  # checklist 166
    endpoint = serve(answer=b"HTTP/1.1 %d <script>\r\nContent-Length: 0\r\n\r\n" % status)
    outcome = attempt(endpoint.url)
    assert isinstance(outcome, Finish)
    assert (outcome.state, outcome.reason, outcome.http_status) == (
        ExecutionState.FAILED, Reason.HTTP_STATUS, status,
    )  # fmt: skip
    assert outcome.message.startswith(f"the endpoint answered {status} ")
    assert "script" not in outcome.message


@pytest.mark.parametrize(
    ("words", "succeeds"), [(["404"], True), (["4xx"], True), (["400-410"], True), (["2xx"], False)]
)
def test_a_call_says_which_statuses_are_a_success(
    serve: Serve, attempt: Attempt, words: list[str], *, succeeds: bool
) -> None:
    endpoint = serve(answer=b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    outcome = attempt(endpoint.url, success_statuses=tuple(words))
    assert isinstance(outcome, Finish)
    assert (outcome.state is ExecutionState.SUCCEEDED) is succeeds


def test_nothing_is_sent_when_the_runner_may_no_longer_start_anything(serve: Serve, exchange: Exchange) -> None:
    endpoint = serve()
    claimed = make_claimed(make_call_to(endpoint.url))
    assert CallPerformer(exchange).perform(claimed, lambda: False) == GiveBack()
    assert endpoint.requests == []


def test_a_call_whose_secrets_nobody_can_open_fails_with_the_reason(exchange: Exchange) -> None:
    claimed = replace(make_claimed(), fault="none of SCHEDULER_ENCRYPTION_KEYS opens a stored secret")
    outcome = CallPerformer(exchange).perform(claimed, lambda: True)
    assert outcome == Finish(state=ExecutionState.FAILED, reason=Reason.BAD_REQUEST, message=claimed.fault)


def test_the_app_is_not_asked_about_before_its_url_is_called(serve: Serve, exchange: Exchange) -> None:
    """A call outlives its app."""  # checklist 167
    endpoint = serve()
    claimed = make_claimed(replace(make_call_to(endpoint.url), app_guid="long gone"))
    outcome = CallPerformer(exchange).perform(claimed, lambda: True)
    assert isinstance(outcome, Finish)
    assert outcome.state is ExecutionState.SUCCEEDED


def test_proxies_of_the_environment_are_ignored(
    serve: Serve, attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    endpoint = serve()
    outcome = attempt(endpoint.url)
    assert isinstance(outcome, Finish)
    assert outcome.state is ExecutionState.SUCCEEDED
