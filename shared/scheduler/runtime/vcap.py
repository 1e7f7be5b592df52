"""On Cloud Foundry, bound services bring DATABASE_URL and QUEUE_URL: they are found in VCAP_SERVICES."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_SCHEMES = {
    "DATABASE_URL": ("postgres://", "postgresql://"),
    "QUEUE_URL": ("amqp://", "amqps://"),
}


def with_bound_services(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables, with what a bound service knows where the variable itself is not set."""
    missing = [name for name in _SCHEMES if not variables.get(name)]
    if not missing:
        return variables
    uris = list(_uris(_bound_services(variables)))
    found = {name: uri for name in missing for uri in reversed(uris) if uri.startswith(_SCHEMES[name])}
    return {**variables, **found}


def _bound_services(variables: Mapping[str, str]) -> Any:
    path = variables.get("VCAP_SERVICES_FILE_PATH")
    try:
        return json.loads(Path(path).read_text() if path else variables.get("VCAP_SERVICES") or "{}")
    except (OSError, ValueError):
        return {}


def _uris(services: Any) -> Iterator[str]:
    if not isinstance(services, dict):
        return
    for instances in services.values():
        for instance in instances if isinstance(instances, list) else ():
            credentials = instance.get("credentials") if isinstance(instance, dict) else None
            if isinstance(credentials, dict):
                yield from (value for value in credentials.values() if isinstance(value, str))
