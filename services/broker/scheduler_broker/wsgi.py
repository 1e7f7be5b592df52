"""The broker put together from its settings; the only place that builds things."""

from flask import Flask
from sqlalchemy import Engine

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.uaa import Uaa
from scheduler.running.cloud_foundry import client_settings
from scheduler.running.service import open_database, prepare_database, serve_internal_port
from scheduler.runtime.loops import Stop
from scheduler.runtime.settings import Settings
from scheduler.store.database import Database
from scheduler_broker.app import create_app
from scheduler_broker.usecases.bindings import Bindings
from scheduler_broker.usecases.cloud import Cloud
from scheduler_broker.usecases.instances import Instances
from scheduler_broker.usecases.pausing import Pausing

THREADS = 16
CONNECTIONS = THREADS + 1  # threads that wait for a lock hold one each; the last is for readiness
# Up to five requests in a row (own scopes, token, question, and once more the latter two) fit into the 60 seconds
# after which Cloud Controller gives up on a broker.
READ_TIMEOUT_SECONDS = 8.0


def build(settings: Settings, stop: Stop) -> Flask:
    """Return the application, once the database is there and its schema current."""
    engine = open_database(settings, pool_size=CONNECTIONS)
    serve_internal_port(settings, engine)
    prepare_database(settings, engine, stop)
    return assemble(settings, engine)


def assemble(settings: Settings, engine: Engine) -> Flask:
    """Return the application over this database."""
    cloud_foundry = client_settings(settings.cloud_foundry, read_timeout_seconds=READ_TIMEOUT_SECONDS)
    cloud = Cloud(Controller(cloud_foundry), Uaa(cloud_foundry))
    database, pausing = Database(engine), Pausing(default_zone=settings.time_zone)
    return create_app(settings.broker, Instances(database, cloud, pausing), Bindings(database, cloud, pausing))
