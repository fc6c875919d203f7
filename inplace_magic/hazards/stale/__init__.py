"""Rules on references that went stale: a name or slot is read for old values after another path wrote them.

They may know ``references/`` and the story. They tell a stale read only where a reader after the write is recorded, and
do not know the other folders of rules.
"""
