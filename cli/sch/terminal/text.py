"""Text from elsewhere, made harmless and measured in terminal cells."""

import unicodedata

_JOINERS = "\u200c\u200d"  # invisible, harmless, and needed by several scripts and by emoji
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
ELLIPSIS = "…"


def clean(text: str) -> str:
    """Return the text in one line, with whatever could steer a terminal or reorder the line written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) if _is_unsafe(character) else character for character in text)


def clean_json(text: str) -> str:
    """Return the same JSON, with whatever could steer a terminal written as JSON's own escapes."""
    return "".join(
        _json_escaped(character) if _is_unsafe(character) and character not in "\n\r\t" else character
        for character in text
    )


def width(text: str) -> int:
    """Return how many cells of a terminal the text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def pad(text: str, cells: int) -> str:
    """Return the text with spaces up to `cells`."""
    return text + " " * (cells - width(text))


def shorten(text: str, cells: int) -> str:
    """Return the text, cut to `cells` with an ellipsis when it is longer."""
    if width(text) <= cells:
        return text
    kept, used = [], width(ELLIPSIS)
    for character in text:
        used += _cells(character)
        if used > cells:
            break
        kept.append(character)
    return "".join(kept) + ELLIPSIS


def _is_unsafe(character: str) -> bool:
    return unicodedata.category(character) in _UNSAFE and character not in _JOINERS


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _json_escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _cells(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
