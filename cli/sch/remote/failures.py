"""What lies behind the layers of an error of the network."""

import requests
import urllib3


def is_unsent(error: BaseException) -> bool:
    """Tell whether no connection was made; in doubt no."""
    if isinstance(error, requests.ConnectTimeout | requests.exceptions.ProxyError):
        return True
    return isinstance(_reason(error), urllib3.exceptions.NewConnectionError)


def innermost(error: BaseException) -> str:
    """Return the words of the system's own error, which say more than the layers around it."""
    seen = error
    while (inner := _reason(seen) or seen.__cause__ or seen.__context__) is not None:
        seen = inner
    words = getattr(seen, "verify_message", None) or getattr(seen, "strerror", None) or str(seen)
    return str(words) or type(seen).__name__


def _reason(error: BaseException) -> BaseException | None:
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    return reason if isinstance(reason, BaseException) else None
