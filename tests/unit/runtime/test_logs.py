"""Log lines: levels as the reference has them, a line that nothing can break, no secret."""

import json
import logging
import subprocess
import sys
from typing import Any

import pytest

from scheduler.runtime.logs import PANIC, TRACE, configure_logs, forget_ids, keep_ids

_LEVELS = {
    "trace": TRACE, "debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR,
    "fatal": logging.CRITICAL, "panic": PANIC,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _restored() -> Any:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:], root.level = handlers, level


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("level", _LEVELS)
def test_a_level_lets_through_itself_and_what_is_worse(level: str, capsys: pytest.CaptureFixture[str]) -> None:
    # checklist 23, 24
    configure_logs(level, "json", service="api")
    for name, number in _LEVELS.items():
        logging.getLogger("test").log(number, name)
    shown = [json.loads(line)["level"] for line in _lines(capsys)]
    order = list(_LEVELS)
    assert shown == order[order.index(level) :]


@pytest.mark.parametrize("level", ["info", "fatal"])
def test_a_fatal_message_is_told_and_ends_the_process(level: str) -> None:
    # checklist 25
    program = (
        "import logging, threading, time; from scheduler.runtime.logs import configure_logs, fatal;"
        f"configure_logs({level!r}, 'json', service='api');"
        "threading.Thread(target=time.sleep, args=(60,)).start();"
        "fatal(logging.getLogger('test'), 'It is over.', exit_code=3)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 3
    line = json.loads(done.stderr)
    assert (line["level"], line["message"], line["action"]) == ("fatal", "It is over.", "fatal")


def test_a_line_has_its_facts_and_ids(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("info", "json", service="api")
    keep_ids(request_id="r-1")
    logging.getLogger("test").info("Done.", extra={"action": "work_done", "job": "j-1", "nothing": None})
    forget_ids()
    logging.getLogger("test").info("More.")
    first, second = (json.loads(line) for line in _lines(capsys))
    assert first.pop("time").endswith("Z")
    assert first == {
        "level": "info", "service": "api", "message": "Done.", "action": "work_done", "job": "j-1", "request_id": "r-1",
    }  # fmt: skip
    assert "request_id" not in second


def test_plain_lines_are_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("info", "plain", service="api")
    logging.getLogger("test").warning("Done.", extra={"action": "work_done"})
    (line,) = _lines(capsys)
    assert line.endswith("warn  api: Done.  action=work_done")


@pytest.mark.parametrize("log_format", ["json", "plain"])
def test_what_users_send_breaks_no_line(log_format: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("info", log_format, service="api")
    logging.getLogger("test").info("name: a\nb\x1b[31m", extra={"name_of": "c\r\nd"})
    assert len(_lines(capsys)) == 1


@pytest.mark.parametrize("log_format", ["json", "plain"])
@pytest.mark.parametrize("secret", ["s3cret", 'with "quotes"', "back\\slash", "ümlaut", "a b&c"])
def test_secrets_are_hidden_wherever_they_turn_up(
    log_format: str, secret: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # checklist 49, 50
    configure_logs("trace", log_format, service="api", secrets=[secret, ""])
    log = logging.getLogger("test")
    log.info("The secret is %s.", secret, extra={"url": f"https://u:{secret}@host/"})
    log.error("It failed.", exc_info=ValueError(f"not {secret}"))
    text = capsys.readouterr().err
    assert secret not in text
    assert json.dumps(secret)[1:-1] not in text
    assert "[hidden]" in text


def test_libraries_that_would_name_urls_are_only_heard_when_something_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # checklist 50
    configure_logs("trace", "json", service="api")
    for name in ("urllib3.connectionpool", "pika.adapters", "werkzeug"):
        logging.getLogger(name).warning("GET /?token=secret")
    assert _lines(capsys) == []
