"""The table of a timeline, read as a script reads it."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser

from inplace_magic.render import style


@dataclass
class Cell:
    """A cell of a lane, of the axis or of a row between them."""

    storage: str | None
    """Of a lane: the number of its storage."""
    is_axis: bool
    call: int | None
    key: str | None
    title: str
    look: str
    text: str = ""

    @property
    def is_guilty(self) -> bool:
        return style.VERMILION_TINT in self.look

    @property
    def is_kept(self) -> bool:
        return style.BLUE in self.look


class Tracks(HTMLParser):
    """The cells of the table, in their order."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: dict[str, None] = {}
        self.text = ""
        self.all_cells: list[Cell] = []
        self._row: dict[str, str | None] = {}
        self._inside = False
        self.feed(markup)

    @property
    def axis(self) -> list[Cell]:
        return [cell for cell in self.all_cells if cell.is_axis and cell.call is not None]

    @property
    def cells(self) -> list[Cell]:
        """Those in which something happened to a lane."""
        return [cell for cell in self.all_cells if not cell.is_axis and cell.call is not None]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = None
        given = dict(attrs)
        self._inside = tag == "td"
        if tag == "tr":
            self._row = given
        if self._inside:
            call, axis = given.get("data-c"), self._row.get("class") == "im-axis"
            look, title = given.get("style") or "", given.get("title") or ""
            number = None if call is None else int(call)
            self.all_cells.append(Cell(self._row.get("data-s"), axis, number, given.get("data-k"), title, look))

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._inside:
            self.all_cells[-1].text += data
