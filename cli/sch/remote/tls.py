"""Which servers are believed to be who they say they are."""

import ssl
from pathlib import Path
from typing import Any

from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from sch.errors import UsageError


class TrustingAdapter(HTTPAdapter):
    """Trusts further authorities beside the usual ones, where requests' own `verify` would replace those."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        return super().proxy_manager_for(*args, ssl_context=self._context, **kwargs)


def trusting(ca_cert_file: Path) -> TrustingAdapter:
    """Return an adapter that also trusts the certificates in the file.

    Raises UsageError when there are none.
    """
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    try:
        context.load_verify_locations(cafile=ca_cert_file)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"SCHEDULER_CA_CERT_FILE: {ca_cert_file} holds no certificates that can be read") from error
    return TrustingAdapter(context)
