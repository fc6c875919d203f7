"""By what a test asks to be watched."""

from __future__ import annotations

MARKER = "inplace_watch"
FAIL_ON = {"silent": ("silent",), "warning": ("silent", "warning")}
"""What ``--inplace-fail-on`` takes, and the severities of findings that then fail a test that passed."""
PASSED_ON = ("check_values", "max_events", "lang")
"""Fields of the options that have the same flag here, with ``inplace-`` before it."""
