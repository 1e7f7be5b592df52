"""The tables as SQLAlchemy sees them; `migrations/` makes them, a test holds the two against each other.

There are no foreign keys from schedules and executions to jobs and calls: orphans exist by contract.
GUIDs of our own are `uuid`, those of Cloud Controller and of service brokers opaque text.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData()


def _instant(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=nullable)


def _words(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, Text, nullable=nullable)


jobs = Table(
    "jobs",
    metadata,
    Column("guid", Uuid, primary_key=True),
    _words("name"),
    _words("command"),
    Column("disk_in_mb", BigInteger, nullable=False),
    Column("memory_in_mb", BigInteger, nullable=False),
    Column("log_rate_in_bps", BigInteger, nullable=False, server_default=text("0")),
    _words("state"),
    Column("pass_context", Boolean, nullable=False, server_default=text("false")),
    _words("app_guid"),
    _words("space_guid"),
    _instant("created_at"),
    _instant("updated_at"),
    UniqueConstraint("app_guid", "name", name="jobs_app_name"),
)

calls = Table(
    "calls",
    metadata,
    Column("guid", Uuid, primary_key=True),
    _words("name"),
    _words("url"),
    _words("auth_header"),  # sealed (store/sealing.py) where a key is configured
    _words("method"),
    _words("headers"),  # a JSON object, sealed as a whole
    _words("body"),
    Column("connect_timeout_seconds", Float, nullable=False),
    Column("timeout_seconds", Float, nullable=False),
    Column("success_statuses", JSONB, nullable=False),
    Column("follow_redirects", Integer, nullable=False),
    Column("retry", JSONB, nullable=False),
    _words("app_guid"),
    _words("space_guid"),
    _instant("created_at"),
    _instant("updated_at"),
    UniqueConstraint("app_guid", "name", name="calls_app_name"),
)

schedules = Table(
    "schedules",
    metadata,
    Column("guid", Uuid, primary_key=True),
    _words("ref_type"),
    Column("ref_guid", Uuid, nullable=False),
    _words("space_guid"),
    Column("enabled", Boolean, nullable=False),
    _words("expression"),
    _words("expression_type"),
    _words("time_zone", nullable=True),
    _words("day_match"),
    _words("on_gap"),
    _words("on_fold"),
    _words("misfire_policy"),
    Column("misfire_grace_seconds", Integer, nullable=False),
    Column("misfire_max_runs", Integer, nullable=False),
    Column("misfire_max_age_seconds", Integer, nullable=False),
    _words("overlap"),
    Column("start_deadline_seconds", Integer, nullable=False),
    _instant("start_time", nullable=True),
    _instant("end_time", nullable=True),
    Column("max_runs", BigInteger),
    Column("delete_after_run", Boolean, nullable=False),
    _instant("anchor_at", nullable=True),
    Column("metadata", JSONB, nullable=False),
    _words("state"),
    _words("paused_by", nullable=True),
    _words("pause_note", nullable=True),
    _instant("paused_until", nullable=True),
    _words("resume_policy", nullable=True),
    _instant("resume_to", nullable=True),
    _instant("cursor_at"),
    _instant("next_fire_at", nullable=True),
    _instant("last_fire_at", nullable=True),
    Column("run_count", BigInteger, nullable=False),
    Column("episode_count", BigInteger, nullable=False),
    Column("missed_count", BigInteger, nullable=False),
    Column("skipped_count", BigInteger, nullable=False),
    Column("definition_version", Integer, nullable=False),
    _instant("created_at"),
    _instant("updated_at"),
)

executions = Table(
    "executions",
    metadata,
    Column("guid", Uuid, primary_key=True),
    _words("ref_type"),
    Column("ref_guid", Uuid, nullable=False),
    _words("space_guid"),
    Column("schedule_guid", Uuid),
    Column("definition_version", Integer),
    _instant("scheduled_time", nullable=True),
    _words("trigger"),
    _words("state"),
    _words("reason", nullable=True),
    Column("message", Text, nullable=False, server_default=text("''")),
    _words("task_guid", nullable=True),
    Column("serial", Boolean, nullable=False, server_default=text("false")),
    Column("attempt", Integer, nullable=False, server_default=text("0")),
    _instant("not_before", nullable=True),
    Column("look_up_first", Boolean, nullable=False, server_default=text("false")),
    _instant("cancel_requested_at", nullable=True),
    Column("runner", Uuid),
    Column("claim_token", Uuid),
    _instant("next_poll_at", nullable=True),
    _instant("created_at"),
    _instant("queued_at", nullable=True),
    Column("publish_count", Integer, nullable=False, server_default=text("0")),
    _instant("first_start_time", nullable=True),
    _instant("execution_start_time", nullable=True),
    _instant("execution_end_time", nullable=True),
    Column("previous_execution_guid", Uuid),
    _instant("covers_from", nullable=True),
    _instant("covers_to", nullable=True),
    Column("covers_count", BigInteger),
    _words("idempotency_key", nullable=True),
    _instant("start_by", nullable=True),
    Column("http_status", Integer),
    Column("duration_ms", BigInteger),
    UniqueConstraint("schedule_guid", "scheduled_time", name="executions_occurrence"),
)

service_instances = Table(
    "service_instances",
    metadata,
    Column("guid", Text, primary_key=True),
    _words("service_id"),
    _words("plan_id"),
    _words("organization_guid"),
    Column("space_guid", Text, nullable=False, unique=True),
    _instant("created_at"),
    _instant("updated_at"),
)

service_bindings = Table(
    "service_bindings",
    metadata,
    Column("guid", Text, primary_key=True),
    _words("instance_guid"),
    _words("service_id"),
    _words("plan_id"),
    _words("app_guid", nullable=True),  # none: a service key
    _instant("created_at"),
)

audit_events = Table(
    "audit_events",
    metadata,
    Column("guid", Uuid, primary_key=True),
    _words("action"),
    _words("actor_guid"),
    _words("actor_name"),
    _words("target_type"),
    _words("target_guid"),
    _words("space_guid"),
    Column("data", JSONB, nullable=False),
    _instant("created_at"),
)

processes = Table(
    "processes",
    metadata,
    Column("guid", Uuid, primary_key=True),
    _words("service"),
    _words("host"),
    _words("version"),
    _instant("started_at"),
    _instant("seen_at"),
)

# What the installation must remember beyond its rows: the queue's kind, the tz database that planned the next runs.
facts = Table("facts", metadata, Column("name", Text, primary_key=True), _words("value"))
