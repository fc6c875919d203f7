"""By what a test asks to be watched."""

from __future__ import annotations

MARKER = "inplace_watch"
TITLE = "inplace_magic"
"""Of the section of a test, and of the summary's."""
FAIL_ON = {"silent": ("silent",), "warning": ("silent", "warning")}
"""What ``--inplace-fail-on`` takes, and the severities of findings that then fail a test that passed."""
PASSED_ON = ("check_values", "full", "max_events", "lang")
"""Fields of the options that have the same flag here, with ``inplace-`` before it."""
