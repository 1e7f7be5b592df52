"""What two services of the scheduler need; `docs/architecture.md` says how the parts fit together."""

__version__ = "3.0.0"
