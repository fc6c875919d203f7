"""Places by their lines alone, for a level that must cost next to nothing; modules around them are not looked for."""

from __future__ import annotations

from types import CodeType, FrameType

from inplace_magic.capture.callsite import _END, _FORWARD, _USER, CallsiteTable


class LineTable(CallsiteTable):
    """See :class:`CallsiteTable`; no place has modules, and the way up the stack is a third cheaper."""

    def _path(self, frame: FrameType, function: CodeType | None) -> tuple[int, ...]:
        """Return the user's frames, innermost first.

        Raises:
            KeyError: a frame runs new code.
        """
        kinds = self._kinds
        path = [0]
        above: FrameType | None = frame
        behind = self.behind
        while above is not None:
            code = above.f_code
            kind = kinds[id(code)]
            if kind & _USER:
                break
            if kind and kind != _FORWARD and code is not function:
                path[0] = 1
            above = above.f_back
        while True:
            while above is not None:
                key = id(above.f_code)
                kind = kinds[key]
                if kind & _USER:
                    path.append(key)
                    path.append(above.f_lasti)
                    if kind & _END:
                        break
                above = above.f_back
            if above is not None or behind is None:
                return tuple(path)
            above, behind = behind, None
