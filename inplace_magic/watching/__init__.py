"""The one place that joins both sides: ``inplace_magic.watch()`` and all that it needs until there is a report.

It may know a capture and a report. IPython, pytest and callbacks of frameworks call it from outside.
"""
