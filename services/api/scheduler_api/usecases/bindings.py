"""The rule that an app must be bound to the scheduler before anything may be set up or run for it."""

from sqlalchemy import Connection

from scheduler.cloudfoundry.uaa import Caller
from scheduler.store.bindings import is_bound, lock_app
from scheduler_api.usecases.errors import ForbiddenError


class BindingRule:
    """In force with SCHEDULER_BROKER_REQUIRE_BINDING; admins pass regardless."""

    def __init__(self, *, required: bool) -> None:
        self._required = required

    def check(self, connection: Connection, caller: Caller, app_guid: str, *, in_any_case: bool = False) -> None:
        """Raise ForbiddenError when the app needs a binding and has none."""
        is_needed = (self._required or in_any_case) and not caller.is_admin
        if is_needed and not is_bound(connection, app_guid):
            raise ForbiddenError("the app is not bound to a scheduler service instance", code="binding_required")

    def hold(self, connection: Connection, caller: Caller, app_guid: str) -> None:
        """Do the same, and keep the last binding from going until the transaction ends."""
        if self._required:
            lock_app(connection, app_guid)
        self.check(connection, caller, app_guid)
