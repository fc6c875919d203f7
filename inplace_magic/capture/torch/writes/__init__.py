"""Level ``writes``: the newest writes of a run of hours, as five numbers each.

It may know addresses, versions, nodes and the line of each write. It keeps no call and no name, so its memory stays
that of the first minute, and a report of it has findings but no tables.
"""
