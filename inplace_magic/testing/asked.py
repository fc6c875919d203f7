"""The options by which a test asks for a watch."""

from __future__ import annotations

MARKER = "inplace_watch"
TITLE = "inplace_magic"
"""Titles of a test's section and of the summary's."""
FAIL_ON = {"silent": ("silent",), "warning": ("silent", "warning")}
"""Values of ``--inplace-fail-on``, and the severities that then fail a passing test."""
PASSED_ON = ("check_values", "full", "max_events", "lang")
"""Option fields with the same flag here, prefixed ``inplace-``."""
