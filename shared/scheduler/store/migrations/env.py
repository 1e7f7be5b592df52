"""Alembic's entry: it runs on the connection that `scheduler.store.migrate` hands over."""

from alembic import context

from scheduler.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
