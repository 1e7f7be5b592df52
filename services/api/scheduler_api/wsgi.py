"""The API put together from its settings; the only place that builds things."""

from contextlib import ExitStack
from datetime import timedelta

from flask import Flask
from sqlalchemy import Engine

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.uaa import Uaa
from scheduler.running.cloud_foundry import client_settings
from scheduler.running.service import open_database, prepare_database, serve_internal_port
from scheduler.runtime.loops import Stop
from scheduler.runtime.settings import Settings
from scheduler.store.database import Database
from scheduler.store.sealing import Seal
from scheduler.timetable.zone_list import zone_rows
from scheduler_api.app import create_app
from scheduler_api.collaborators import Collaborators
from scheduler_api.openapi.pages import contract_pages
from scheduler_api.usecases.access import Access
from scheduler_api.usecases.app_checks import AppChecks
from scheduler_api.usecases.audit_trail import AuditTrail
from scheduler_api.usecases.bindings import BindingRule
from scheduler_api.usecases.calls import Calls
from scheduler_api.usecases.controls import Controls
from scheduler_api.usecases.definitions import Rules
from scheduler_api.usecases.deletion import Deletion
from scheduler_api.usecases.executions import Executions
from scheduler_api.usecases.history import History
from scheduler_api.usecases.jobs import Jobs
from scheduler_api.usecases.orphans import Orphans
from scheduler_api.usecases.rechecking import Recheck
from scheduler_api.usecases.schedules import Schedules
from scheduler_api.usecases.validation import Validation
from scheduler_api.usecases.why import Reasons
from scheduler_api.usecases.works import Works

CONNECTIONS = 10
LOCK_TIMEOUT_SECONDS = 5


def build(settings: Settings, stop: Stop) -> Flask:
    """Return the application, once the database is there and its schema current."""
    engine = open_database(settings, pool_size=CONNECTIONS, lock_timeout_seconds=LOCK_TIMEOUT_SECONDS)
    serve_internal_port(settings, engine, pages=contract_pages())
    prepare_database(settings, engine, stop)
    return create_app(assemble(settings, engine, client_settings(settings.cloud_foundry)))


def assemble(settings: Settings, engine: Engine, cloud_foundry: CloudFoundrySettings) -> Collaborators:
    """Return what the application is made of, over this database and this Cloud Foundry."""
    database, seal = Database(engine), Seal(settings.encryption_keys)
    uaa, controller, clients = Uaa(cloud_foundry), Controller(cloud_foundry), ExitStack()
    for client in (uaa, controller):
        clients.callback(client.close)
    access = Access(controller)
    bindings = BindingRule(required=settings.broker.require_binding)
    rules = Rules(default_zone=settings.time_zone, min_interval=_min_interval(settings))
    controls = Controls(database, bindings, rules)
    works, deletion = Works(database, access, seal), Deletion(database, rules)
    return Collaborators(
        verify=uaa.verify,
        close=clients.close,
        access=access,
        works=works,
        jobs=Jobs(database, bindings),
        calls=Calls(database, bindings, seal),
        executions=Executions(database, access, bindings),
        history=History(database),
        schedules=Schedules(database, bindings, rules, controls, Recheck(database)),
        controls=controls,
        deletion=deletion,
        orphans=Orphans(database, AppChecks(controller, uaa), works, deletion),
        reasons=Reasons(database, rules),
        validation=Validation(database, rules),
        audit_trail=AuditTrail(database),
        time_zones=[row.document() for row in zone_rows(settings.time_zone)],
    )


def _min_interval(settings: Settings) -> timedelta | None:
    return timedelta(seconds=settings.min_interval_seconds) if settings.min_interval_seconds else None
