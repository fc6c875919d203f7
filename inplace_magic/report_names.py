"""What somebody looks for in a report, by the names that it has here and by those that other packages have for it."""

from __future__ import annotations

import difflib

FOR_ALL = (
    *("hazards", "verdict", "show", "save", "graph", "memory", "tensors", "saved", "calls", "prove", "patch"),
    "suspects",
    *("to_text", "to_html", "to_svg", "to_dot", "to_frame", "to_dict", "to_json", "from_json", "to_widget"),
    *("findings_json", "in_language", "language", "framework", "trace"),
)
"""What ``dir`` shows of a report: what somebody needs who looks at one. All else is there for code."""
_GUESSES = {
    **dict.fromkeys(("df", "dataframe", "frame", "to_dataframe", "to_df", "to_pandas"), "to_frame()"),
    **dict.fromkeys(("summary", "describe", "print", "text"), "to_text()"),
    **dict.fromkeys(("plot", "draw", "picture", "image", "visualize"), "graph"),
    **dict.fromkeys(("fix", "fixes", "diff"), "patch()"),
    **dict.fromkeys(("errors", "warnings", "issues", "problems", "results"), "hazards"),
    **dict.fromkeys(("display", "render", "view"), "show()"),
}
"""Names that other packages have for what is here by another one."""


def no_attribute(name: str) -> str:
    """What an ``AttributeError`` of a report says: the right name, where one is near."""
    near = _GUESSES.get(name)
    if near is None and not name.startswith("_"):
        near = next(iter(difflib.get_close_matches(name, FOR_ALL, n=1)), None)
    told = f"'Report' object has no attribute {name!r}"
    return told if near is None else f"{told}; did you mean `{near}`?"
