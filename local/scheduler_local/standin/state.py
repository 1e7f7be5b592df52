"""A file that a stand-in's memory is kept in."""

import json
from pathlib import Path
from typing import Any


class StateFile:
    """JSON in a folder; nothing at all without a folder."""

    def __init__(self, folder: Path | None, name: str) -> None:
        self._path = folder / name if folder else None

    def read(self) -> Any:
        """Return what was last written, None if nothing was."""
        if self._path is None or not self._path.exists():
            return None
        return json.loads(self._path.read_text(encoding="utf-8"))

    def write(self, value: Any) -> None:
        """Replace the contents, all or nothing, readable by nobody else: there may be a broker's password in it."""
        if self._path is None:
            return
        draft = self._path.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(value), encoding="utf-8")
        draft.replace(self._path)
