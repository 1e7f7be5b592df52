"""An app that is bound and unbound again and again, as Cloud Controller asks the broker to."""

import threading
import time
import uuid
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from scheduler_local.testing import MadeApp
from tests.faults.client import Answer, Client
from tests.faults.history import Phase
from tests.faults.load import Held, Load

_VERSION = "2.17"
_RETRY_SECONDS = 1.0
_GONE = 410  # what a repeated deletion is answered: done


@dataclass
class Binder:
    """One app with its schedules; their phases follow from what the broker answers."""

    load: Load
    broker: Client
    app: MadeApp
    instance: str
    ids: dict[str, str]
    schedules: list[Held] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _binding: str = ""

    def begin(self, count: int) -> None:
        """Bind the app and give it schedules."""
        self.bind()
        for number in range(count):
            work = self.load.create_work("job" if number % 4 == 0 else "call", self.app)
            held = work and self.load.create_schedule(work, self._lock, bound=True)
            if held:
                self.schedules.append(held)

    def run(self, random: Random, stop: threading.Event) -> None:
        """Unbind and bind until stopped; end bound."""
        while not stop.wait(random.uniform(8, 25)):
            with self._lock:
                self.unbind()
            stop.wait(random.uniform(3, 15))
            with self._lock:
                self.bind()

    def bind(self) -> None:
        """Bind the app anew."""
        self._binding = str(uuid.uuid4())
        body = {**self.ids, "bind_resource": {"app_guid": self.app.guid}}
        window = self._insist("PUT", f"{self._path()}", body)
        self._note(window, enabled=True)

    def unbind(self) -> None:
        """Take the app's only binding away."""
        query = "&".join(f"{name}={value}" for name, value in self.ids.items())
        window = self._insist("DELETE", f"{self._path()}?{query}", None)
        self._note(window, enabled=False)

    def _note(self, window: Answer, *, enabled: bool) -> None:
        for held in self.schedules:
            phase: Phase = replace(
                held.last, lo=window.lo, hi=window.hi, enabled=enabled, resume="skip_paused" if enabled else None
            )
            held.timeline.phases.append(phase)

    def _insist(self, method: str, path: str, body: Any) -> Answer:
        """Ask until it is done, as Cloud Controller's orphan mitigation would; the window begins with the first try."""
        first = answer = ask_broker(self.broker, method, path, body)
        while not answer.done and answer.status != _GONE:
            time.sleep(_RETRY_SECONDS)
            answer = ask_broker(self.broker, method, path, body)
        return replace(answer, lo=first.lo)

    def _path(self) -> str:
        return f"/v2/service_instances/{self.instance}/service_bindings/{self._binding}"


def ask_broker(broker: Client, method: str, path: str, body: Any = None) -> Answer:
    """Ask in the broker's version of the protocol."""
    return broker.ask(method, path, body, X_Broker_API_Version=_VERSION)


def provision(broker: Client, space_guid: str) -> tuple[str, dict[str, str]]:
    """Create the space's service instance; return its GUID and the ids that the broker wants to hear."""
    service = ask_broker(broker, "GET", "/v2/catalog").body["services"][0]
    ids = {"service_id": service["id"], "plan_id": service["plans"][0]["id"]}
    instance = str(uuid.uuid4())
    body = {**ids, "space_guid": space_guid, "organization_guid": str(uuid.uuid4())}
    answer = ask_broker(broker, "PUT", f"/v2/service_instances/{instance}", body)
    if not answer.done:
        raise RuntimeError(f"no service instance: {answer}")
    return instance, ids
