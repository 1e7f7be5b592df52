"""What tests may ask for. Everything is real, started when first asked for, and gone after the session.

database_url        str: a fresh, migrated PostgreSQL database of the test's own
empty_database_url  str: a fresh one without tables
postgres            PostgresServer of the session: create_database(migrated=…), drop_database(url), execute(sql);
                    tests do not stop it
own_postgres        PostgresServer of the test's own: also stop(), kill(), start()
engine, rows        SQLAlchemy engine on `database_url`, and Rows: add(job, call, schedule), execution(…), read(guid)
in_transaction      call a function of the store in a transaction of its own
amqp_url            str: a fresh vhost on the session's RabbitMQ
rabbitmq            RabbitNode of the session: stop(), kill(), start(), close_connections(), control("delete_queue", …),
                    block_publishers(blocked=…); the next test finds it running again, whatever happened
spawn               spawn("ticker", env={…}) -> Service: the service as a process, ready; stop(), kill(), suspend(),
                    wake(), ready(), get("/metrics"), output(), logged(action=…), wait_logged(action=…)
uaa, cc             the stand-ins for Cloud Foundry (scheduler_local.testing), back at their seed; cloud_foundry: how
                    clients find them

suite               suite(queue_url, of_each=2) -> Suite: the five services as processes, with a client of the API
endpoint            an HTTP endpoint that remembers its visitors: url, hits
serve               serve(behaviour) -> RawEndpoint: an HTTP endpoint without manners, one thread for each connection

From tests.fixtures.session: free_port() and wait_until(condition, within=seconds, what="sentence").

With xdist each worker has its own servers. SCHEDULER_TEST_CONTAINERS=1 takes containers for them (images are
pulled), 0 never does; unset, containers are taken when a Docker engine has the images already. PostgreSQL otherwise
comes from the wheel that the local mode uses; RabbitMQ must be installed. No server is ever skipped over.
"""

import re
from uuid import UUID

from hypothesis import settings

# A loaded machine is no mistake: examples have no deadline.
settings.register_profile("tests", deadline=None)
settings.register_profile("fuzz", max_examples=20_000, deadline=None)  # `make fuzz`
settings.load_profile("tests")

pytest_plugins = [
    "pytester",
    "tests.fixtures.session",
    "tests.fixtures.postgres",
    "tests.fixtures.rabbitmq",
    "tests.fixtures.processes",
    "tests.fixtures.rows",
    "tests.fixtures.standins",
    "tests.fixtures.queues",
    "tests.fixtures.suite",
    "tests.fixtures.raw_endpoints",
    "tests.fixtures.statements",
    "tests.fixtures.rings",
]

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case with a GUID in it the same in every process: the workers of xdist compare the names."""
    if isinstance(val, str | UUID) and _GUID.search(str(val)):
        return _GUID.sub("GUID", str(val))
    return None
