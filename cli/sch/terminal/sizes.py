"""How wide a terminal is; asked of the terminal itself, without the weight of shutil."""

import os
from typing import TextIO

_USUAL_COLUMNS = 80


def columns_of(stream: TextIO) -> int:
    """Return the width of the terminal behind the stream in cells."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS
