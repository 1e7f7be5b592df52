"""The servers and processes that other tests rely on do what conftest.py says."""

import os
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import psutil
import psycopg2
import pytest

from scheduler.queue import open_publisher
from tests.fixtures.postgres import PostgresServer
from tests.fixtures.processes import Spawn
from tests.fixtures.rabbitmq import RabbitNode
from tests.fixtures.session import wait_until

_ROOT = Path(__file__).parents[2]
_STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
)


def _tables(url: str) -> set[str]:
    connection = psycopg2.connect(url)
    try:
        cursor = connection.cursor()
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {name for (name,) in cursor.fetchall()}
    finally:
        connection.close()


def test_a_database_is_migrated_and_an_empty_one_is_not(database_url: str, empty_database_url: str) -> None:
    assert "executions" in _tables(database_url)
    assert _tables(empty_database_url) == set()


def test_a_postgres_of_ones_own_keeps_its_data_through_a_crash(own_postgres: PostgresServer) -> None:
    url = own_postgres.create_database(migrated=False)
    connection = psycopg2.connect(url)
    connection.cursor().execute("CREATE TABLE kept ()")
    connection.commit()
    own_postgres.kill()
    with pytest.raises(psycopg2.Error):
        connection.cursor().execute("SELECT 1")
    connection.close()
    own_postgres.start()
    assert _tables(url) == {"kept"}


def test_a_vhost_is_ready_for_clients_and_the_node_survives_being_killed(amqp_url: str, rabbitmq: RabbitNode) -> None:
    rabbitmq.kill()
    rabbitmq.start()
    assert amqp_url.rpartition("/")[2] in rabbitmq.control("list_vhosts")


def test_a_rabbitmq_that_declares_no_queue_any_more_starts_afresh(
    rabbitmq: RabbitNode, caplog: pytest.LogCaptureFixture
) -> None:
    rabbitmq.control("eval", "application:stop(ra).")  # the part of RabbitMQ that quorum queues live in
    rabbitmq.heal()
    assert "of no use any more" in caplog.text
    with closing(open_publisher(rabbitmq.create_vhost(), "")) as publisher:
        wait_until(publisher.connected, within=30, what="the queues are declared")


def test_a_process_that_ignores_sigterm_is_found_and_killed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(_ROOT))
    pytester.makeconftest(
        """
        from tests.fixtures import processes
        processes.STOP_SECONDS = 0.3
        pytest_plugins = ["tests.fixtures.session", "tests.fixtures.processes"]
        """
    )
    pytester.makepyfile(
        f"""
        import sys
        from tests.fixtures.session import wait_until
        def test_it(spawn):
            service = spawn("stubborn", env={{}}, command=[sys.executable, "-c", {_STUBBORN!r}], wait=False)
            wait_until(service.output, within=10, what="it is up")
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*SIGTERM did not end these*stubborn*"])


def test_what_a_killed_test_session_leaves_behind_is_removed(tmp_path: Path) -> None:
    session = tmp_path / "session.py"
    session.write_text(
        textwrap.dedent(
            """
            import os, signal, subprocess, tempfile
            from pathlib import Path
            from tests.fixtures.reaper import Reaper
            reaper = Reaper()
            server = subprocess.Popen(["sleep", "600"], start_new_session=True)
            reaper.watch(server.pid, end_with=signal.SIGTERM)
            folder = Path(tempfile.mkdtemp())
            reaper.folder(folder)
            print(server.pid, folder, flush=True)
            os.kill(reaper.pid, signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGKILL)
            """
        )
    )
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    done = subprocess.run([sys.executable, session], env=environment, capture_output=True, text=True, check=False)
    pid, folder = done.stdout.split()
    wait_until(lambda: _gone(int(pid)) and not Path(folder).exists(), within=15, what="server and folder are gone")


def _gone(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_a_service_is_stopped_and_its_children_are_too(spawn: Spawn) -> None:
    service = spawn("sleeper", env={}, command=["sleep", "60"], wait=False)
    service.suspend()
    service.wake()
    assert service.stop() == -15
