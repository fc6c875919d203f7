"""The one place that joins both sides: ``inplace_magic.watch()`` and all that it needs until there is a report.

It may know a capture and a report. IPython, pytest and frameworks' callbacks are outside and call in here.
"""
