"""Make the first schema."""

from alembic import op

revision = "0001"
down_revision = None

JOBS_AND_CALLS = """
CREATE TABLE jobs (
    guid uuid PRIMARY KEY,
    name text NOT NULL,
    command text NOT NULL,
    disk_in_mb bigint NOT NULL,
    memory_in_mb bigint NOT NULL,
    log_rate_in_bps bigint NOT NULL DEFAULT 0,
    state text NOT NULL,
    pass_context boolean NOT NULL DEFAULT false,
    app_guid text NOT NULL,
    space_guid text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT jobs_app_name UNIQUE (app_guid, name)
);
CREATE INDEX jobs_of_space ON jobs (space_guid, name, guid);
CREATE TABLE calls (
    guid uuid PRIMARY KEY,
    name text NOT NULL,
    url text NOT NULL,
    auth_header text NOT NULL,
    method text NOT NULL,
    headers text NOT NULL,
    body text NOT NULL,
    connect_timeout_seconds double precision NOT NULL,
    timeout_seconds double precision NOT NULL,
    success_statuses jsonb NOT NULL,
    follow_redirects integer NOT NULL,
    retry jsonb NOT NULL,
    app_guid text NOT NULL,
    space_guid text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT calls_app_name UNIQUE (app_guid, name)
);
CREATE INDEX calls_of_space ON calls (space_guid, name, guid)
"""

SCHEDULES = """
CREATE TABLE schedules (
    guid uuid PRIMARY KEY,
    ref_type text NOT NULL CHECK (ref_type IN ('job', 'call')),
    ref_guid uuid NOT NULL,
    space_guid text NOT NULL,
    enabled boolean NOT NULL,
    expression text NOT NULL,
    expression_type text NOT NULL,
    time_zone text,
    day_match text NOT NULL,
    on_gap text NOT NULL,
    on_fold text NOT NULL,
    misfire_policy text NOT NULL,
    misfire_grace_seconds integer NOT NULL,
    misfire_max_runs integer NOT NULL,
    misfire_max_age_seconds integer NOT NULL,
    overlap text NOT NULL,
    start_deadline_seconds integer NOT NULL,
    start_time timestamptz,
    end_time timestamptz,
    max_runs bigint,
    delete_after_run boolean NOT NULL,
    anchor_at timestamptz,
    metadata jsonb NOT NULL,
    state text NOT NULL,
    paused_by text,
    pause_note text,
    paused_until timestamptz,
    resume_policy text,
    resume_to timestamptz,
    cursor_at timestamptz NOT NULL,
    next_fire_at timestamptz,
    last_fire_at timestamptz,
    run_count bigint NOT NULL,
    episode_count bigint NOT NULL,
    missed_count bigint NOT NULL,
    skipped_count bigint NOT NULL,
    definition_version integer NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
-- The ticker's question; idle schedules without a next instant are not in it.
CREATE INDEX schedules_due ON schedules (next_fire_at) WHERE next_fire_at IS NOT NULL;
CREATE INDEX schedules_of_ref ON schedules (ref_guid, created_at, guid);
CREATE INDEX schedules_of_space ON schedules (space_guid, next_fire_at, guid);
CREATE INDEX schedules_to_review ON schedules (guid) WHERE state = 'needs_review';
CREATE INDEX schedules_to_remove ON schedules (guid) WHERE delete_after_run AND state = 'finished'
"""

EXECUTIONS = """
CREATE TABLE executions (
    guid uuid PRIMARY KEY,
    ref_type text NOT NULL CHECK (ref_type IN ('job', 'call')),
    ref_guid uuid NOT NULL,
    space_guid text NOT NULL,
    schedule_guid uuid,
    definition_version integer,
    scheduled_time timestamptz,
    trigger text NOT NULL,
    state text NOT NULL CHECK (state IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'SKIPPED')),
    reason text,
    message text NOT NULL DEFAULT '',
    task_guid text,
    serial boolean NOT NULL DEFAULT false,
    attempt integer NOT NULL DEFAULT 0,
    not_before timestamptz,
    look_up_first boolean NOT NULL DEFAULT false,
    cancel_requested_at timestamptz,
    runner uuid,
    claim_token uuid,
    next_poll_at timestamptz,
    created_at timestamptz NOT NULL,
    queued_at timestamptz,
    publish_count integer NOT NULL DEFAULT 0,
    first_start_time timestamptz,
    execution_start_time timestamptz,
    execution_end_time timestamptz,
    previous_execution_guid uuid,
    covers_from timestamptz,
    covers_to timestamptz,
    covers_count bigint,
    idempotency_key text,
    start_by timestamptz,
    http_status integer,
    duration_ms bigint,
    -- Two tickers can never create an occurrence twice.
    CONSTRAINT executions_occurrence UNIQUE (schedule_guid, scheduled_time)
);
-- History, newest first: guids are ordered by time of creation.
CREATE INDEX executions_of_ref ON executions (ref_guid, guid);
CREATE INDEX executions_of_schedule ON executions (schedule_guid, guid) WHERE schedule_guid IS NOT NULL;
-- The rare ones of a long history are found without looking at the others.
CREATE INDEX executions_failed ON executions (ref_guid, guid) WHERE state = 'FAILED';
CREATE INDEX executions_skipped ON executions (ref_guid, guid) WHERE state = 'SKIPPED';
CREATE INDEX executions_unscheduled ON executions (ref_guid, guid) WHERE trigger <> 'schedule';
CREATE UNIQUE INDEX executions_idempotency ON executions (ref_guid, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- The last word on serial runs.
CREATE UNIQUE INDEX executions_one_serial ON executions (schedule_guid) WHERE serial AND state = 'RUNNING';
-- What of a schedule, a job or a call is under way; the order is that of serial runs. The guid is in none of the
-- small indexes that change all the time: with stale statistics PostgreSQL would look guids up in them, by reading
-- them whole.
CREATE INDEX executions_live ON executions
    (ref_guid, schedule_guid, (coalesce(scheduled_time, created_at))) WHERE state IN ('PENDING', 'RUNNING');
-- The relay's questions.
CREATE INDEX executions_unqueued ON executions (ref_type, space_guid, (coalesce(not_before, created_at)))
    WHERE state = 'PENDING' AND queued_at IS NULL AND NOT serial;
CREATE INDEX executions_unqueued_serial ON executions
    (ref_type, schedule_guid, (coalesce(scheduled_time, created_at)))
    WHERE state = 'PENDING' AND queued_at IS NULL AND serial;
CREATE INDEX executions_queued ON executions (ref_type, queued_at)
    WHERE state = 'PENDING' AND queued_at IS NOT NULL;
-- Rescue's questions.
CREATE INDEX executions_running ON executions (runner, execution_start_time)
    WHERE state = 'RUNNING' AND task_guid IS NULL;
CREATE INDEX executions_too_late ON executions (start_by)
    WHERE state = 'PENDING' AND start_by IS NOT NULL AND NOT look_up_first;
-- The followers' question.
CREATE INDEX executions_to_poll ON executions (next_poll_at) WHERE state = 'RUNNING' AND task_guid IS NOT NULL
"""

REST = """
CREATE TABLE service_instances (
    guid text PRIMARY KEY,
    service_id text NOT NULL,
    plan_id text NOT NULL,
    organization_guid text NOT NULL,
    space_guid text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE TABLE service_bindings (
    guid text PRIMARY KEY,
    instance_guid text NOT NULL,
    service_id text NOT NULL,
    plan_id text NOT NULL,
    app_guid text,
    created_at timestamptz NOT NULL
);
CREATE INDEX service_bindings_of_instance ON service_bindings (instance_guid);
CREATE INDEX service_bindings_of_app ON service_bindings (app_guid) WHERE app_guid IS NOT NULL;
CREATE TABLE audit_events (
    guid uuid PRIMARY KEY,
    action text NOT NULL,
    actor_guid text NOT NULL,
    actor_name text NOT NULL,
    target_type text NOT NULL,
    target_guid text NOT NULL,
    space_guid text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX audit_events_of_space ON audit_events (space_guid, guid);
CREATE INDEX audit_events_of_target ON audit_events (target_guid, guid);
CREATE INDEX audit_events_of_actor ON audit_events (actor_guid, guid);
CREATE TABLE processes (
    guid uuid PRIMARY KEY,
    service text NOT NULL,
    host text NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL
);
CREATE TABLE facts (name text PRIMARY KEY, value text NOT NULL)
"""


def upgrade() -> None:
    """Create everything."""
    for script in (JOBS_AND_CALLS, SCHEDULES, EXECUTIONS, REST):
        op.execute(script)


def downgrade() -> None:
    """Drop everything."""
    op.execute(
        "DROP TABLE facts, processes, audit_events, service_bindings, service_instances, executions, schedules,"
        " calls, jobs"
    )
