"""References that went stale: who holds which tensor since when, who wrote it otherwise, who reads it as if old.

It may know the story, holders and passages between functions. It yields facts, no findings: codes and words are of the
rules in ``stale/``, ``shared/`` and ``handed/``.
"""
