"""The pages of the internal port that show the contract."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

from scheduler.runtime.health import Answer
from scheduler_api.openapi.document import new_document


@cache
def as_text() -> str:
    """Return the document as it is committed."""
    return json.dumps(new_document(), indent=2, ensure_ascii=False) + "\n"


def contract_pages() -> Mapping[str, Callable[[], Answer]]:
    """Return the document for machines, and a page to browse it that needs nothing from elsewhere."""
    return {
        "/openapi.json": lambda: (200, "application/json", as_text().encode()),
        "/docs": lambda: (200, "text/html; charset=utf-8", _browser()),
    }


def _browser() -> bytes:
    return files(__package__).joinpath("browser.html").read_bytes()
