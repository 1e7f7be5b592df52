"""Creating, listing and changing calls. Secrets go in and are never shown again."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from scheduler.cloudfoundry.resources import App
from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.calls import Call, Request, Retry
from scheduler.domain.guids import new_guid
from scheduler.store.calls import calls_of_space, count_calls, insert_call, lock_call, save_call
from scheduler.store.database import Database, now_of
from scheduler.store.sealing import Seal
from scheduler_api.pagination import Part, Wanted, numbered
from scheduler_api.usecases.audit import audit
from scheduler_api.usecases.bindings import BindingRule
from scheduler_api.usecases.errors import AbsentError
from scheduler_api.usecases.names import taken_name_is_invalid

_EXAMPLE = Request(url="", auth_header="")
_DEFAULTS = {field.name: getattr(_EXAMPLE, field.name) for field in fields(Request)}
_RETRY_DEFAULTS = {field.name: getattr(Retry(), field.name) for field in fields(Retry)}


class Calls:
    """Calls of apps in whose space the caller may act."""

    def __init__(self, database: Database, bindings: BindingRule, seal: Seal) -> None:
        self._database = database
        self._bindings = bindings
        self._seal = seal

    def create(self, caller: Caller, app: App, wish: Mapping[str, Any]) -> Call:
        """Store a call for the app, in the space in which the app is now.

        Raises InvalidInputError when the app has a call of that name, ForbiddenError when it needs a binding.
        """
        with taken_name_is_invalid("call"), self._database.write() as connection:
            self._bindings.check(connection, caller, app.guid)
            now = now_of(connection)
            owner = {"app_guid": app.guid, "space_guid": app.space_guid}
            request = _changed(_EXAMPLE, wish)
            call = Call(
                guid=new_guid(), name=wish["name"], request=request, **owner, created_at=now, updated_at=now
            )  # fmt: skip
            insert_call(connection, call, self._seal)
            audit(connection, caller, "create", call, name=call.name)
        return call

    def of_space(self, space_guid: str, wanted: Wanted) -> Part:
        """Return a part of the space's calls, by name."""
        with self._database.read() as connection:
            rows = calls_of_space(connection, space_guid, self._seal, limit=wanted.limit, offset=wanted.offset)
            return numbered(rows, wanted, lambda: count_calls(connection, space_guid))

    def change(self, caller: Caller, call: Call, wish: Mapping[str, Any]) -> Call:
        """Change the fields that `wish` names; None means back to the default.

        Raises as `create` does, AbsentError when the call is gone.
        """
        with taken_name_is_invalid("call"), self._database.write() as connection:
            self._bindings.check(connection, caller, call.app_guid)
            present = lock_call(connection, call.guid, self._seal)
            if present is None:
                raise AbsentError("call")
            changed = replace(
                present,
                name=wish.get("name", present.name),
                request=_changed(present.request, wish),
                updated_at=now_of(connection),
            )
            save_call(connection, changed, self._seal, now=changed.updated_at)
            audit(connection, caller, "update", changed, changed=sorted(wish))
        return changed


def _changed(request: Request, wish: Mapping[str, Any]) -> Request:
    changes = {name: _or_default(value, _DEFAULTS[name]) for name, value in wish.items() if name in _DEFAULTS}
    if "retry" in wish:
        changes["retry"] = _changed_retry(request.retry, wish["retry"])
    return replace(request, **changes)


def _changed_retry(retry: Retry, wish: Mapping[str, Any] | None) -> Retry:
    if wish is None:
        return Retry()
    return replace(retry, **{name: _or_default(value, _RETRY_DEFAULTS[name]) for name, value in wish.items()})


def _or_default(value: Any, default: Any) -> Any:
    return default if value is None else value
