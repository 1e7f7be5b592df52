"""Names are unique among an app's jobs, and among its calls."""

from collections.abc import Iterator
from contextlib import contextmanager

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.store.database import NameTakenError


@contextmanager
def taken_name_is_invalid(noun: str) -> Iterator[None]:
    """Turn the constraint's refusal into one that names the field; around the whole transaction."""
    try:
        yield
    except NameTakenError:
        message = f"name is taken: the app has another {noun} of that name"
        raise InvalidInputError(Finding(code="name_taken", message=message, field="name")) from None
