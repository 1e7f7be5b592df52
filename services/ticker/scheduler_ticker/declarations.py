"""Schedules that the configuration file declares: created where they are absent, and never overwritten.

A declaration's name makes the GUID of its schedule, so that any number of tickers may declare at the same time.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import IntegrityError

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.schedules import Definition, Schedule
from scheduler.policies import anchored, create_progress
from scheduler.store.audit_events import Deed, record
from scheduler.store.database import now_of
from scheduler.store.owners import Owner, OwnerQuery, find_owners
from scheduler.store.schedules import get_schedule, insert_schedule

_log = logging.getLogger(__name__)

ACTOR = "configuration file"


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """A schedule that an installation brings with it, for a job or call that users have."""

    name: str
    owner: OwnerQuery
    definition: Definition
    enabled: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def guid_for(self, owner: Owner) -> UUID:
        """Return the GUID of this declaration's schedule: always the same for the same job or call."""
        return uuid5(owner.guid, self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Declarer:
    """Looks at each declaration once."""

    engine: Engine
    declarations: Sequence[Declaration]
    default_zone: str

    def declare_all(self) -> None:
        """Create what is absent; say what differs.

        Raises sqlalchemy.exc.SQLAlchemyError when the database fails; repeating it is harmless.
        """
        for declaration in self.declarations:
            try:
                with self.engine.begin() as connection:
                    self._declare(connection, declaration)
            except IntegrityError:
                continue  # another ticker was first
            except InvalidInputError as error:
                _warn(declaration, f"cannot be created: {error}")

    def _declare(self, connection: Connection, declaration: Declaration) -> None:
        owners = find_owners(connection, declaration.owner)
        kind = declaration.owner.kind
        if len(owners) != 1:
            fault = f"has no {kind} yet" if not owners else f"fits more than one {kind}"
            _warn(declaration, f"{fault}; it is looked at again at the next start")
            return
        stored = get_schedule(connection, declaration.guid_for(owners[0]))
        if stored is None:
            self._create(connection, declaration, owners[0])
        elif differing := _differences(stored.definition, declaration.definition):
            _warn(declaration, f"differs from the stored one in {', '.join(differing)}; the stored one stays", stored)

    def _create(self, connection: Connection, declaration: Declaration, owner: Owner) -> None:
        schedule = self._schedule(declaration, owner, now_of(connection))
        insert_schedule(connection, schedule)
        deed = Deed(
            action="schedule.create",
            actor_guid=ACTOR,
            actor_name=ACTOR,
            target_type="schedule",
            target_guid=str(schedule.guid),
            space_guid=schedule.space_guid,
            data={"expression": schedule.definition.expression, "declared_as": declaration.name},
        )
        record(connection, deed)
        _log.info(
            "A declared schedule was created.",
            extra={"action": "declared", "declaration": declaration.name, "schedule_guid": str(schedule.guid)},
        )

    def _schedule(self, declaration: Declaration, owner: Owner, now: datetime) -> Schedule:
        definition = anchored(declaration.definition, now=now)
        progress = create_progress(
            definition,
            now=now,
            hash_key=str(owner.guid),
            default_zone=self.default_zone,
            enabled=declaration.enabled,
        )
        return Schedule(
            guid=declaration.guid_for(owner),
            ref_type=declaration.owner.kind,
            ref_guid=owner.guid,
            space_guid=owner.space_guid,
            definition=definition,
            progress=progress,
            metadata={**declaration.metadata, "declared_as": declaration.name},
            created_at=now,
            updated_at=now,
        )


def _differences(stored: Definition, declared: Definition) -> list[str]:
    """Return the names of the fields that differ; the anchor is nobody's wish."""
    names = [each.name for each in fields(Definition) if each.name != "anchor_at"]
    return [name for name in names if getattr(stored, name) != getattr(declared, name)]


def _warn(declaration: Declaration, sentence: str, stored: Schedule | None = None) -> None:
    ids = {"schedule_guid": str(stored.guid)} if stored else {}
    _log.warning(
        f"The declared schedule {declaration.name} {sentence}.",
        extra={"action": "declaration_not_applied", "declaration": declaration.name, **ids},
    )
