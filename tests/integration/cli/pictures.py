"""The terminal pictures of the documents: what `sch` shows on a real pseudo-terminal, drawn as SVG.

`python -m tests.integration.cli.pictures` draws them anew. Look at them before committing.
"""

import io
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.integration.cli.conftest import TOKEN
from tests.integration.cli.fake_api import FakeApi, collection, refusal, serving
from tests.integration.cli.samples import (
    APP,
    CALL_GUID,
    EXECUTION_GUID,
    JOB_GUID,
    SCHEDULE_GUID,
    execution,
    job,
    schedule,
)
from tests.integration.cli.terminal import Terminal

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)  # pictures must load nothing from elsewhere
COLUMNS = 152


def main() -> None:
    """Draw all pictures."""
    PICTURES.mkdir(exist_ok=True)
    with _scheduler() as environment:
        _draw("sch-help", environment, [()], columns=96)
        tables = [("jobs", "list"), ("jobs", "schedules", "list", "nightly"), ("jobs", "history", "nightly")]
        _draw("sch-tables", environment, tables)
        mistake = ("jobs", "schedules", "create", "nightly", "0 2 * * MON-FOO")
        _draw("sch-mistake", environment, [mistake], columns=96)


@contextmanager
def _scheduler() -> Iterator[dict[str, str]]:
    with serving() as api, tempfile.TemporaryDirectory() as folder:
        _fill(api)
        (Path(folder) / ".cf").mkdir()
        configuration = f'{{"SpaceFields": {{"GUID": "{APP}", "Name": "dev"}}}}'
        (Path(folder) / ".cf" / "config.json").write_text(configuration, encoding="utf-8")
        yield {
            "PATH": folder,
            "HOME": folder,
            "TERM": "xterm-256color",
            "no_proxy": "127.0.0.1",
            "SCHEDULER_URL": api.url,
            "SCHEDULER_TOKEN": TOKEN,
        }


def _fill(api: FakeApi) -> None:
    other = "5e2d8c4b-3f1a-4b7e-9c6d-8a0f2e4b6d14"
    api.answer_rows(
        "/jobs",
        job(),
        job(guid=CALL_GUID, name="reindex", app_guid=other, command="bin/reindex --since yesterday --all-shards"),
        job(guid=EXECUTION_GUID, name="nächtliche-sicherung", app_guid=other, command="bin/backup /var/vcap"),
    )
    api.answer_rows(
        f"/jobs/{JOB_GUID}/schedules",
        schedule(expression="0 2 * * MON-FRI", last_run_at="2026-02-27T01:00:00Z"),
        schedule(guid=CALL_GUID, expression="H H(1-4) L * *", time_zone="UTC", next_run_at="2026-03-31T03:41:00Z"),
        schedule(guid=EXECUTION_GUID, expression="*/5 * * * *", time_zone=None, state="paused", next_run_at=None),
    )
    api.answer("GET", f"/jobs/{JOB_GUID}/history", collection(*_runs(), total_results=211))
    mistake = {"field": "day-of-week", "value": "FOO", "offset": 12, "valid_range": "0-7"}
    message = "day-of-week field value FOO is not a number or name (valid: 0-7)"
    api.answer("POST", f"/jobs/{JOB_GUID}/schedules", refusal("parse_error", message, **mistake), status=422)


def _runs() -> Iterator[dict[str, object]]:
    def run(day: int, state: str, seconds: int = 0, **more: object) -> dict[str, object]:
        started = {} if state == "SKIPPED" else {"execution_start_time": f"2026-02-{day:02}T01:00:00Z"}
        ended = {"execution_end_time": f"2026-02-{day:02}T01:{seconds // 60:02}:{seconds % 60:02}Z"} if started else {}
        fixed = {"scheduled_time": f"2026-02-{day:02}T01:00:00Z", "trigger": "schedule", "state": state}
        return execution(guid=SCHEDULE_GUID[:-2] + str(day), **{**fixed, **started, **ended, **more})

    yield run(27, "SUCCEEDED", 185)
    yield run(26, "FAILED", 12, message="Exited with status 1")
    yield run(25, "SKIPPED", message="the previous run was still going on")
    yield run(24, "SUCCEEDED", 3590, trigger="misfire")


def _draw(
    name: str, environment: dict[str, str], commands: Sequence[tuple[str, ...]], *, columns: int = COLUMNS
) -> None:
    shown = "\n".join(_typed(command) + _shown(command, environment, columns) for command in commands)
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(shown.rstrip()))
    drawn = console.export_svg(title="sch", theme=MONOKAI, unique_id=name)
    drawn = _FONT_FACE.sub("", drawn).replace(
        "<svg ", '<svg xml:space="preserve" ', 1
    )  # some viewers drop leading spaces
    (PICTURES / f"{name}.svg").write_text(drawn, encoding="utf-8")


def _typed(command: tuple[str, ...]) -> str:
    words = " ".join(f"'{word}'" if set(word) & set(" *") else word for word in ("sch", *command))
    return f"\x1b[1m$ {words}\x1b[0m\n"


def _shown(command: tuple[str, ...], environment: dict[str, str], columns: int) -> str:
    terminal = Terminal([sys.executable, "-m", "sch", *command], environment, columns=columns)
    try:
        terminal.wait()
    finally:
        terminal.close()
    return terminal.raw.replace("\r\n", "\n").replace(environment["SCHEDULER_URL"], "https://scheduler.example.com")


if __name__ == "__main__":
    main()
