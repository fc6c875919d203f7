"""The write side: the only package that imports torch. It writes a :class:`~inplace_magic.record.trace.Trace`."""
