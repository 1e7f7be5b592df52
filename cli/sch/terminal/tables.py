"""Tables as the cf command line draws them: lower-case headings, columns three spaces apart, nothing after the last."""

from collections.abc import Iterator, Sequence

from sch.terminal.text import clean, pad, shorten, width

GAP = "   "
_MIN_LAST_CELLS = 20  # below this a shortened column would say nothing


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], *, fit: int | None = None) -> Iterator[str]:
    """Yield the heading line and one line per row.

    `fit` is a terminal's width, into which the last column is shortened; None: it may be as long as it likes.
    """
    cleaned = [[clean(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(map(width, column)) for column in zip(*cleaned, strict=True)]
    last = None if fit is None else max(fit - sum(widths[:-1]) - len(GAP) * (len(widths) - 1), _MIN_LAST_CELLS)
    for row in cleaned:
        yield _line(row, widths, last)


def detail_lines(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield one line per name and value, the values aligned; without a name the value belongs to the one above."""
    labels = [f"{clean(name)}:" if name else "" for name, _ in pairs]
    cells = max(map(width, labels), default=0)
    for label, (_, value) in zip(labels, pairs, strict=True):
        yield f"{pad(label, cells)}{GAP}{clean(value)}".rstrip()


def _line(row: Sequence[str], widths: Sequence[int], last: int | None) -> str:
    padded = [pad(cell, cells) for cell, cells in zip(row[:-1], widths, strict=False)]
    end = row[-1] if last is None else shorten(row[-1], last)
    return GAP.join([*padded, end]).rstrip()
