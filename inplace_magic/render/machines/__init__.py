"""The findings of a report for programs: editors, assistants, continuous integration.

One file for each format, each a function from a report to text. They know findings, and nothing of pages or pictures.
``docs/machines.md`` says what is stable in a format; sentences for people may change with any version.
"""

from __future__ import annotations

from collections.abc import Callable

from inplace_magic.render.machines.findings import to_findings_json
from inplace_magic.render.machines.sarif import to_annotations, to_sarif
from inplace_magic.report import Report

FORMATS: dict[str, Callable[[Report], str]] = {"json": to_findings_json, "github": to_annotations, "sarif": to_sarif}
"""What ``--format`` takes, apart from ``text``."""
