"""From what the environment says about Cloud Foundry to what its clients must know."""

from pathlib import Path
from typing import Any

from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.runtime.settings import CloudFoundry


def client_settings(own: CloudFoundry, **limits: Any) -> CloudFoundrySettings:
    """Return the clients' settings; `limits` are fields of theirs that the environment does not set."""
    return CloudFoundrySettings(
        cf_endpoint=own.cf_endpoint,
        uaa_endpoint=own.uaa_endpoint,
        client_id=own.client_id,
        client_secret=own.client_secret,
        ca_file=Path(own.ca_cert_file) if own.ca_cert_file else None,
        skip_tls_validation=own.skip_ssl_validation,
        **limits,
    )
