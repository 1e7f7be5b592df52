"""Words of others (Cloud Controller, TLS, resolvers) become part of a message: they are made fit to store and show."""

MAX_CHARACTERS = 1_000
_CUT = " […]"


def storable(message: str) -> str:
    """Return the message in one line, without anything that PostgreSQL or a terminal would choke on, and bounded."""
    printable = "".join(character if character.isprintable() else " " for character in message[: 4 * MAX_CHARACTERS])
    line = " ".join(printable.split())
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - len(_CUT)] + _CUT
