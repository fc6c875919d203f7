"""Code that traces, exports or compiles runs unwatched: the watch records one call for all of it.

It may know the names in PyTorch where such work begins, and the probes that it takes off and puts back. It records
nothing of the inside, and the report says so.
"""
