"""Facts worth knowing that are no mistake (severity ``info``), one file each.

They may know everything that a rule may. They are never an alarm: a report shows the three largest, from 1 MiB on.
"""
