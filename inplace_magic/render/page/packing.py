"""What a page carries for its script, deflated and in base64: half the bytes, and HTML escapes none of them."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any


def packed(state: dict[str, Any]) -> str:
    """Plain data as the value of ``data-state``."""
    return packed_text(json.dumps(state, ensure_ascii=False, separators=(",", ":")))


def packed_text(text: str) -> str:
    """A text, as :func:`packed` packs JSON."""
    deflate = zlib.compressobj(9, memLevel=9)
    return base64.b64encode(deflate.compress(text.encode()) + deflate.flush()).decode()


def unpacked(text: str) -> dict[str, Any]:
    """The data that :func:`packed` packed."""
    state: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text)))
    return state
