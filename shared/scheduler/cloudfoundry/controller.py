"""Cloud Controller, version 3, as far as the scheduler needs it.

Every method returns a value or raises: NotFoundError only when Cloud Controller itself says that the resource does
not exist, RefusedError when it says no, CannotTellError for everything else. Creating a task, the one request that is
not safe to repeat, has two more outcomes: WaitError (nothing was started) and DoubtError (perhaps it was).
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from scheduler.cloudfoundry.answers import creation_failure, refusal_of, value_of
from scheduler.cloudfoundry.errors import CannotTellError, DoubtError, LostError, WaitError
from scheduler.cloudfoundry.resources import EXECUTION_LABEL, App, Info, NewTask, Role, ServiceInstance, Task
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.tokens import TokenCache
from scheduler.cloudfoundry.transport import Answer, Bearer, Transport

TASKS_PER_REQUEST = 150  # as many GUIDs as fit a request line of 8 KiB
T = TypeVar("T")

_PAGE_SIZE = 5_000
_MAX_PAGES = 20
# Anything else (empty, commas, dot segments) would turn the request into another one.
_PLAIN_GUID = re.compile(r"(?!\.)[A-Za-z0-9_.-]{1,255}")


class Controller:
    """Cloud Controller, asked with our own client's token; safe to share between threads."""

    def __init__(self, settings: CloudFoundrySettings, *, transport: Transport | None = None) -> None:
        self._endpoint = settings.cf_endpoint.rstrip("/")
        self._transport = transport or Transport(settings)
        self._tokens = TokenCache(settings, self._transport)

    def get_app(self, guid: str) -> App:
        """Return an app."""
        return _read(App.read, self._get(f"/v3/apps/{_plain(guid)}"))

    def get_service_instance(self, guid: str) -> ServiceInstance:
        """Return a service instance."""
        return _read(ServiceInstance.read, self._get(f"/v3/service_instances/{_plain(guid)}"))

    def info(self) -> Info:
        """Return what Cloud Controller says about itself."""
        return _read(Info.read, self._get("/v3/info"))

    def has_role(self, roles: Collection[Role], user_guid: str, space_guid: str | None) -> bool:
        """Tell whether the user has one of `roles` in the space; with None, in any space."""
        query = {"types": ",".join(roles), "user_guids": _plain(user_guid), "per_page": "1"}
        if space_guid is not None:
            query["space_guids"] = _plain(space_guid)
        return _read(_total, self._get("/v3/roles", query)) > 0

    def create_task(self, app_guid: str, task: NewTask) -> Task:
        """Create a task and return it.

        Raises RefusedError, WaitError or DoubtError, and nothing else.
        """
        try:
            answer = self._ask("POST", self._url(f"/v3/apps/{_plain(app_guid)}/tasks"), body=task.body())
        except LostError as error:
            raise DoubtError(str(error)) from error
        except CannotTellError as error:
            raise WaitError(str(error), retry_after=error.retry_after) from error
        if not 200 <= answer.status < 300:
            raise creation_failure(answer)
        try:
            return _read(Task.read, answer.json())
        except CannotTellError as error:
            raise DoubtError("Cloud Controller's answer to a new task is unreadable") from error

    def get_task(self, guid: str) -> Task:
        """Return one task."""
        return _read(Task.read, self._get(f"/v3/tasks/{_plain(guid)}"))

    def tasks(self, guids: Iterable[str]) -> dict[str, Task]:
        """Return those of the tasks that Cloud Controller lists, by GUID: one request for 150 of them.

        A missing one may be gone or merely unreadable; ask for it singly.
        """
        wanted = [_plain(guid) for guid in guids]
        found: dict[str, Task] = {}
        for start in range(0, len(wanted), TASKS_PER_REQUEST):
            query = {"guids": ",".join(wanted[start : start + TASKS_PER_REQUEST])}
            listed = self._list(_task_if_readable, "/v3/tasks", query)
            found.update((task.guid, task) for task in listed if task is not None)
        return found

    def find_tasks(self, app_guid: str | None, execution_guid: str) -> list[Task]:
        """Return the tasks that carry the execution's label, the oldest first; None: in whatever app.

        What Cloud Controller noted but could not submit is left out: it never ran, and its creation was a WaitError.
        """
        query = {"label_selector": f"{EXECUTION_LABEL}={_plain(execution_guid)}"}
        path = "/v3/tasks" if app_guid is None else f"/v3/apps/{_plain(app_guid)}/tasks"
        tasks = [task for task in self._list(Task.read, path, query) if not task.was_never_submitted]
        return sorted(tasks, key=lambda task: (task.created_at, task.guid))

    def cancel_task(self, guid: str) -> Task:
        """Ask for a task to be stopped and return it, CANCELING; repeating this is harmless.

        Raises RefusedError when the task has ended already.
        """
        answer = self._ask("POST", self._url(f"/v3/tasks/{_plain(guid)}/actions/cancel"))
        if answer.status == 422:
            raise refusal_of(answer)
        return _read(Task.read, value_of(answer))

    def close(self) -> None:
        """Let the connections go."""
        self._transport.close()

    def _list(self, read: Callable[[Any], T], path: str, query: Mapping[str, str]) -> Iterator[T]:
        url = self._url(path, {**query, "per_page": str(_PAGE_SIZE)})
        for _ in range(_MAX_PAGES):
            page = value_of(self._ask("GET", url))
            yield from _read(lambda fields: [read(item) for item in fields["resources"]], page)
            following = _read(_next_href, page)
            if following is None:
                return
            url = self._ours(following)
        raise CannotTellError(f"Cloud Controller's list has more than {_MAX_PAGES} pages")

    def _ours(self, url: str) -> str:
        """Return `url` if it leads to Cloud Controller: our token goes to nobody else."""
        if urlsplit(url)[:2] != urlsplit(self._endpoint)[:2]:
            raise CannotTellError("Cloud Controller's list continues at another host")
        return url

    def _get(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        return value_of(self._ask("GET", self._url(path, query)))

    def _url(self, path: str, query: Mapping[str, str] | None = None) -> str:
        return self._endpoint + path + (f"?{urlencode(query, safe=',')}" if query else "")

    def _ask(self, method: str, url: str, *, body: Any = None) -> Answer:
        """Send with our token, and once more with a new one when the old one is refused."""
        token = self._tokens.get()
        answer = self._send(method, url, token, body)
        if answer.status == 401:
            self._tokens.discard(token)
            answer = self._send(method, url, self._tokens.get(), body)
        return answer

    def _send(self, method: str, url: str, token: str, body: Any) -> Answer:
        if method == "GET":
            return self._transport.get(url, auth=Bearer(token))
        return self._transport.send(method, url, auth=Bearer(token), body=body)


def _read(read: Callable[[Any], T], fields: Any) -> T:
    try:
        return read(fields)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CannotTellError(f"Cloud Controller's answer is unreadable: {type(error).__name__}") from error


def _task_if_readable(fields: Any) -> Task | None:
    """Read one of many tasks: an odd one must not hide the others."""
    try:
        return _read(Task.read, fields)
    except CannotTellError:
        return None


def _total(page: Any) -> int:
    return int(page["pagination"]["total_results"])


def _next_href(page: Any) -> str | None:
    following = page["pagination"]["next"]
    return None if following is None else str(following["href"])


def _plain(guid: str) -> str:
    if not _PLAIN_GUID.fullmatch(guid):
        raise CannotTellError("this is no GUID that Cloud Controller could be asked about")
    return guid
