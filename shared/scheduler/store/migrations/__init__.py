"""Alembic's migrations. Expand in one release, contract in a later one: a service starts against a newer schema."""
