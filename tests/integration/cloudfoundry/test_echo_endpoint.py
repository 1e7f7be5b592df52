"""The local endpoint for calls shows what arrived."""

import pytest
import requests

from scheduler_local.testing import EchoEndpoint


def test_what_arrives_is_kept_with_its_headers_and_body(echo: EchoEndpoint) -> None:
    headers = {"Authorization": "bearer x", "X-Scheduler-Attempt": "1"}
    answer = requests.post(f"{echo.url}/hook?a=b", data="hello", headers=headers, timeout=5)
    assert answer.status_code == 200
    (seen,) = echo.requests()
    assert (seen["method"], seen["path"], seen["query"], seen["body"]) == ("POST", "/hook", "a=b", "hello")
    assert seen["headers"]["Authorization"] == "bearer x"
    assert seen["headers"]["X-Scheduler-Attempt"] == "1"


def test_the_fast_path_is_counted_and_not_kept(echo: EchoEndpoint) -> None:
    answer = requests.post(f"{echo.url}/fast", data="hello", timeout=5)
    assert (answer.status_code, answer.content) == (204, b"")
    assert echo.requests() == []
    assert echo.count() == 1


@pytest.mark.parametrize("status", [204, 304, 404, 503, 599])
def test_any_status_can_be_asked_for(echo: EchoEndpoint, status: int) -> None:
    assert requests.post(f"{echo.url}/status/{status}", timeout=5).status_code == status
    assert echo.count() == 1
