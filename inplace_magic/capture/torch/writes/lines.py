"""Places by their lines alone, for a level that must cost next to nothing; modules around them are not looked for."""

from __future__ import annotations

from types import CodeType, FrameType

from inplace_magic.capture.callsite import _END, _FORWARD, _USER, CallsiteTable


class LineTable(CallsiteTable):
    """See :class:`CallsiteTable`; no place has modules, and the way up the stack is a third cheaper."""

    def note(self, frame: FrameType | None, function: CodeType | None = None) -> int | None:
        """As there."""
        if self._cell_globals is not None:
            self._find_cell(frame)
        kinds = self._kinds
        places = [0]
        above = frame = frame or self.behind
        behind = self.behind
        try:
            while above is not None:
                code = above.f_code
                kind = kinds[id(code)]
                if kind & _USER:
                    break
                if kind and kind != _FORWARD and code is not function:
                    places[0] = 1
                above = above.f_back
            while True:
                while above is not None:
                    key = id(above.f_code)
                    kind = kinds[key]
                    if kind & _USER:
                        places.append(key)
                        places.append(above.f_lasti)
                        if kind & _END:
                            break
                    above = above.f_back
                if above is not None or behind is None:
                    break
                above, behind = behind, None
        except KeyError:  # code that was not met yet
            self._learn(frame)
            return self.note(frame, function)
        path = tuple(places)
        number = self._numbers.get(path)
        return self._number(path) if number is None else number
