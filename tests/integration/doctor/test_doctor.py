"""`scheduler doctor` finds what is wrong and says what to do."""

import json
import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pika
import psycopg2
import pytest

from scheduler.queue import open_publisher
from scheduler.store.engine import open_engine
from scheduler.store.facts import QUEUE_KIND, remember
from scheduler.store.inspection import look_at_server
from scheduler_local.doctor import Status, database, doctor
from scheduler_local.testing import StandInController, StandInUaa
from tests.fixtures.postgres import PostgresServer
from tests.fixtures.session import free_port, wait_until
from tests.integration.cli.certificates import write_certificate
from tests.integration.cli.fake_api import secured
from tests.integration.doctor.conftest import Examine

SECRETS = ("scheduler-secret", "hunter2", "kR0dZC4pQf4pXnXc")


def test_nothing_is_wrong_with_a_good_installation_but_that_nobody_runs_it(variables: dict[str, str]) -> None:
    checks = {check.name: check for check in doctor(variables)}
    assert checks.pop("services").status is Status.WARNING
    assert {check.status for check in checks.values()} == {Status.OK}
    assert list(checks) == [
        "settings", "database", "database TLS", "clock", "schema", "queue kind", "queue",
        "TLS UAA_ENDPOINT", "TLS CF_ENDPOINT", "UAA", "client", "Cloud Controller", "roles",
    ]  # fmt: skip


def test_every_finding_that_is_not_ok_says_what_to_do() -> None:
    checks = doctor({"CF_ENDPOINT": "nonsense", "QUEUE_URL": "http://x"})
    assert all(check.advice for check in checks if check.status in {Status.WARNING, Status.FAILED})
    findings = " ".join(check.finding for check in checks)
    for variable in ("DATABASE_URL", "UAA_ENDPOINT", "CLIENT_ID", "CLIENT_SECRET", "CF_ENDPOINT", "QUEUE_URL"):
        assert variable in findings


def test_a_setting_that_is_not_taken_as_it_stands_is_a_warning(examine: Examine) -> None:
    (check,) = examine("settings", SCHEDULER_WORKERS="5")[1:]
    assert (check.status, check.finding) == (Status.WARNING, "SCHEDULER_WORKERS must be at least 10; using 20")


def test_settings_of_bound_services_count(variables: dict[str, str]) -> None:
    url = variables.pop("DATABASE_URL")
    bound = {"user-provided": [{"name": "db", "credentials": {"uri": url}}]}
    checks = doctor({**variables, "VCAP_SERVICES": json.dumps(bound)})
    assert next(check for check in checks if check.name == "database").status is Status.OK


def test_missing_encryption_keys_are_a_warning_with_the_way_to_make_one(examine: Examine) -> None:
    (check,) = examine("secrets", SCHEDULER_ENCRYPTION_KEYS="")
    assert (check.status, "Fernet.generate_key()" in check.advice) == (Status.WARNING, True)


@pytest.mark.parametrize(
    ("url", "finding"),
    [
        ("postgres://me:hunter2@127.0.0.1:{port}/db", "127.0.0.1:{port}/db does not answer as it should"),
        ("not a url", "DATABASE_URL is not a URL"),
        ("", "DATABASE_URL is not set"),
    ],
)
def test_a_database_that_is_not_there_is_said_to_be_so(examine: Examine, url: str, finding: str) -> None:
    port = free_port()
    (check,) = examine("database", DATABASE_URL=url.format(port=port))
    assert check.status is (Status.FAILED if url else Status.SKIPPED)
    assert check.finding.startswith(finding.format(port=port))


def test_a_schema_that_does_not_exist_yet_is_made_by_the_first_service(
    examine: Examine, empty_database_url: str
) -> None:
    (check,) = examine("schema", DATABASE_URL=empty_database_url)
    assert (check.status, check.finding) == (Status.WARNING, "it does not exist yet")


def test_a_schema_of_another_release_is_found(examine: Examine, database_url: str) -> None:
    _execute(database_url, "DELETE FROM alembic_version")
    (check,) = examine("schema")
    assert (check.status, check.finding) == (Status.WARNING, "it is behind this release")
    _execute(database_url, "INSERT INTO alembic_version VALUES ('of a later release')")
    assert examine("schema")[0].status is Status.OK


def test_a_user_who_may_not_create_tables_is_found(
    examine: Examine, postgres: PostgresServer, empty_database_url: str
) -> None:
    name = empty_database_url.rpartition("/")[2]
    _execute(empty_database_url, f"CREATE ROLE {name}_poor LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    (check,) = examine("schema", DATABASE_URL=empty_database_url.replace("postgres@", f"{name}_poor@"))
    assert (check.status, "may not create tables" in check.finding) == (Status.FAILED, True)
    _execute(empty_database_url, f"DROP OWNED BY {name}_poor; DROP ROLE {name}_poor")


def test_services_that_have_shown_a_sign_of_life_are_counted(examine: Examine, database_url: str) -> None:
    for service in ("ticker", "ticker", "job-runner", "call-runner"):
        _execute(
            database_url,
            "INSERT INTO processes (guid, service, host, version, started_at, seen_at) "
            f"VALUES (gen_random_uuid(), '{service}', 'h', 'v', now(), now())",
        )
    (check,) = examine("services")
    assert (check.status, check.finding) == (Status.OK, "2 ticker, 1 job-runner, 1 call-runner")
    _execute(database_url, "UPDATE processes SET seen_at = now() - interval '2 minutes' WHERE service = 'job-runner'")
    (check,) = examine("services")
    assert (check.status, check.finding) == (Status.WARNING, "no sign of life within 60 s from: job-runner")


def test_a_timetable_that_nobody_plans_is_found(examine: Examine, database_url: str) -> None:
    assert examine("timetable") == []
    _execute(
        database_url,
        "INSERT INTO schedules (guid, ref_type, ref_guid, space_guid, enabled, expression, expression_type, day_match, "
        "on_gap, on_fold, misfire_policy, misfire_grace_seconds, misfire_max_runs, misfire_max_age_seconds, overlap, "
        "start_deadline_seconds, delete_after_run, metadata, state, cursor_at, next_fire_at, run_count, episode_count, "
        "missed_count, skipped_count, definition_version, created_at, updated_at) VALUES (gen_random_uuid(), 'job', "
        "gen_random_uuid(), 's', true, '@hourly', 'cron_expression', 'all', 'shift', 'auto', 'run_once', 60, 1, 60, "
        "'allow', 0, false, '{}', 'active', now(), now() - interval '1 hour', 0, 0, 0, 0, 1, now(), now())",
    )
    (check,) = examine("timetable")
    assert (check.status, "has been waiting for 36" in check.finding) == (Status.WARNING, True)


def test_versions_clocks_and_connections_are_judged(database_url: str) -> None:
    engine = open_engine(database_url)
    with engine.connect() as connection:
        server = look_at_server(connection)
    engine.dispose()
    assert database._version(server, "here").status is Status.OK
    assert database._version(replace(server, major=12), "here").status is Status.FAILED
    assert database._encryption(server, leaves_host=True).status is Status.WARNING
    assert database._encryption(server, leaves_host=False).status is Status.OK
    assert database._encryption(replace(server, is_encrypted=True), leaves_host=True).status is Status.OK
    distances = {0.5: Status.OK, 5: Status.WARNING, 60: Status.FAILED}
    for seconds, status in distances.items():
        assert database._clock(timedelta(seconds=seconds)).status is status
        assert database._clock(-timedelta(seconds=seconds)).status is status


def test_another_kind_of_queue_than_the_database_knows_is_found(examine: Examine, database_url: str) -> None:
    engine = open_engine(database_url)
    with engine.begin() as connection:
        remember(connection, QUEUE_KIND, "rabbitmq")
    engine.dispose()
    (check,) = examine("queue kind")
    assert check.status is Status.FAILED
    assert check.finding == "QUEUE_URL names postgres, but this database has been used with rabbitmq"


def test_a_rabbitmq_before_the_first_service_has_no_queues(examine: Examine, amqp_url: str) -> None:
    assert examine("queue", QUEUE_URL=amqp_url)[0].finding.startswith("RabbitMQ 3.")
    (check,) = examine("queues", QUEUE_URL=amqp_url)
    assert (check.status, check.finding.startswith("missing: scheduler.job")) == (Status.WARNING, True)


def test_queues_that_nobody_consumes_and_dead_letters_are_found(examine: Examine, amqp_url: str) -> None:
    with closing(open_publisher(amqp_url, "")) as publisher:
        wait_until(publisher.connected, within=20, what="the queues are declared", every=0.1)
    connection = pika.BlockingConnection(pika.URLParameters(amqp_url))
    channel = connection.channel()
    channel.confirm_delivery()
    channel.basic_publish("", "scheduler.dead", b"what is this?")
    found = {check.finding for name in ("queues", "dead letters") for check in examine(name, QUEUE_URL=amqp_url)}
    assert found == {
        "nobody consumes scheduler.job, scheduler.call",
        "1 messages in scheduler.dead could not be read or delivered",
    }
    for kind in ("job", "call"):
        channel.basic_consume(f"scheduler.{kind}", lambda *_: None)
    assert examine("queues", QUEUE_URL=amqp_url)[0].status is Status.OK
    connection.close()


def test_a_rabbitmq_that_is_not_there_is_a_failure(examine: Examine) -> None:
    (check,) = examine("queue", QUEUE_URL=f"amqp://guest:hunter2@127.0.0.1:{free_port()}/")
    assert (check.status, check.finding) == (
        Status.FAILED,
        "RabbitMQ does not answer as it should: Connection refused",
    )


def test_a_rabbitmq_that_refuses_the_user_is_a_failure_without_a_password(examine: Examine, amqp_url: str) -> None:
    place = amqp_url.rpartition("@")[2]
    (check,) = examine("queue", QUEUE_URL=f"amqp://nobody:hunter2@{place}")
    assert check.status is Status.FAILED
    assert "ACCESS_REFUSED" in check.finding
    assert "hunter2" not in check.finding


@pytest.mark.parametrize(
    ("scopes", "status", "words"),
    [
        (["cloud_controller.admin"], Status.OK, "cloud_controller.admin"),
        (["cloud_controller.global_auditor"], Status.WARNING, "jobs cannot start tasks"),
        (["cloud_controller.read"], Status.FAILED, "every user would be refused"),
    ],
)
def test_the_client_s_scopes_are_judged(
    examine: Examine, uaa: StandInUaa, scopes: list[str], status: Status, words: str
) -> None:
    uaa.set_client(scopes=scopes)
    (check,) = examine("client")
    assert (check.status, words in check.finding) == (status, True)


def test_a_client_that_uaa_does_not_know_is_found(examine: Examine) -> None:
    (check,) = examine("client", CLIENT_SECRET="hunter2")
    assert (check.status, check.finding) == (Status.FAILED, "UAA gives no token: it answers 401")
    assert examine("Cloud Controller", CLIENT_SECRET="hunter2")[0].status is Status.SKIPPED


def test_endpoints_that_lead_elsewhere_are_found(examine: Examine, uaa: StandInUaa, cc: StandInController) -> None:
    assert examine("UAA", UAA_ENDPOINT=cc.url)[0].status is Status.FAILED
    assert examine("UAA", UAA_ENDPOINT=f"http://127.0.0.1:{free_port()}")[0].status is Status.FAILED
    assert examine("Cloud Controller", CF_ENDPOINT=uaa.url)[0].status is Status.FAILED


def test_roles_that_cannot_be_read_are_found(examine: Examine, cc: StandInController) -> None:
    cc.fault("unavailable", path="/v3/roles")
    (check,) = examine("roles")
    assert check.status is Status.FAILED


def test_certificates_are_judged(examine: Examine, tmp_path: Path) -> None:
    name = "TLS CF_ENDPOINT"
    good, short = write_certificate(tmp_path / "good.pem"), write_certificate(tmp_path / "short.pem", days=3)
    with secured(good) as server:
        (check,) = examine(name, CF_ENDPOINT=server.url)
        assert (check.status, "is not trusted: self-signed certificate" in check.finding) == (Status.FAILED, True)
        assert "CF_CA_CERT_FILE" in check.advice
        (check,) = examine(name, CF_ENDPOINT=server.url, CF_CA_CERT_FILE=str(good))
        assert (check.status, "good for 90 days" in check.finding) == (Status.OK, True)
    with secured(short) as server:
        assert examine(name, CF_ENDPOINT=server.url, CF_CA_CERT_FILE=str(short))[0].status is Status.WARNING


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"CF_ENDPOINT": "http://api.example.invalid"}, Status.WARNING),
        ({"CF_ENDPOINT": "https://127.0.0.1:1"}, Status.FAILED),
    ],
)
def test_what_is_not_encrypted_or_not_there_is_found(examine: Examine, changes: dict[str, str], status: Status) -> None:
    assert examine("TLS CF_ENDPOINT", **changes)[0].status is status


def test_no_validation_at_all_is_a_warning(examine: Examine) -> None:
    assert examine("TLS", CF_SKIP_SSL_VALIDATION="true")[0].status is Status.WARNING


def test_an_authority_that_is_no_file_of_certificates_is_found(examine: Examine, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    for name in ("/does/not/exist", str(tmp_path / "ca.pem")):
        (check,) = examine("TLS", CF_CA_CERT_FILE=name)
        assert (check.status, "CF_CA_CERT_FILE" in check.finding) == (Status.FAILED, True)


@pytest.mark.parametrize(("changes", "code"), [({}, 0), ({"CLIENT_SECRET": "hunter2"}, 1)])
def test_the_command_has_an_exit_code_for_scripts_and_shows_no_secret(
    variables: dict[str, str], changes: dict[str, str], code: int
) -> None:
    environment = {"PATH": os.environ["PATH"], "no_proxy": "127.0.0.1", **variables, **changes}
    for options in ([], ["--json"]):
        command = [str(Path(sys.executable).with_name("scheduler")), "doctor", *options]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (code, "")
        assert not any(secret in done.stdout for secret in SECRETS)
        if options:
            document = json.loads(done.stdout)
            assert document["ok"] == (code == 0)
            assert set(document["checks"][0]) == {"name", "status", "finding", "advice"}
        else:
            assert done.stdout.splitlines()[-1].endswith("1 warning" if code == 0 else "1 failed, 1 skipped")


def _execute(url: str, statement: str) -> None:
    connection = psycopg2.connect(url)
    try:
        connection.autocommit = True
        connection.cursor().execute(statement)
    finally:
        connection.close()
