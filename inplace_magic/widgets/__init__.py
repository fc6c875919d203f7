"""The live view of a report: its state as plain data, and the widget that a running kernel shows."""
