"""The ticker's process and its configuration file."""

from pathlib import Path

from scheduler.testing.factories import make_job
from tests.fixtures.processes import Spawn
from tests.fixtures.rows import Rows
from tests.fixtures.session import wait_until


def test_a_ticker_declares_and_prunes_as_its_file_says(
    spawn: Spawn, database_url: str, rows: Rows, tmp_path: Path
) -> None:
    job = make_job()
    rows.add(job)
    rows.execution(job, state="SUCCEEDED", age=200 * 86_400, execution_end_time=rows.now().replace(year=2020))
    rows.run("UPDATE executions SET guid = '018f5b7e-0000-7000-8000-000000000001'")
    path = tmp_path / "scheduler.yml"
    path.write_text(
        f"""
        system_jobs: {{audit_clean_up: {{enabled: false}}}}
        schedules:
          - {{name: nightly, job: {{guid: {job.guid}}}, expression: "0 2 * * *"}}
        """
    )
    environment = {"DATABASE_URL": database_url, "QUEUE_URL": "postgres", "SCHEDULER_CONFIG_FILE": str(path)}
    ticker = spawn("ticker", env=environment)
    ticker.wait_logged(action="declared", declaration="nightly")
    wait_until(lambda: not rows.all(), within=30, what="the old execution is gone")
    done = ticker.wait_logged(action="system_job")
    assert (done["system_job"], done["rows"]) == ("history_clean_up", 1)
    assert ticker.stop() == 0
    assert [line["system_job"] for line in ticker.logged(action="system_job")] == ["history_clean_up"]


def test_a_file_with_mistakes_refuses_the_start_and_names_its_variable(
    spawn: Spawn, database_url: str, tmp_path: Path
) -> None:
    path = tmp_path / "scheduler.yml"
    path.write_text("colour: green\nsystem_jobs: 5\n")
    environment = {"DATABASE_URL": database_url, "QUEUE_URL": "postgres", "SCHEDULER_CONFIG_FILE": str(path)}
    ticker = spawn("ticker", env=environment, wait=False)
    assert ticker.wait(30) == 2
    told = [line["message"] for line in ticker.logged(action="settings_rejected")]
    assert len(told) == 2
    assert all("SCHEDULER_CONFIG_FILE" in message for message in told)
