"""The cause of an unwatched error: who asks for it and where the answer appears (notebook, script, thread, test).

It may know exceptions, tracebacks and the hooks of Python and of shells, and hands them to
:mod:`inplace_magic.postmortem`. It finds no cause itself, runs nothing of the user's, and leaves every hook as it was.
"""
