"""The write side: it records a framework's work during a watch as a :class:`~inplace_magic.record.trace.Trace`.

It may know PyTorch (in ``torch/``) and Paddle (in ``paddle/``) by name, the user's frames and objects, and the text. It
does not judge or show anything, holds no tensor or node beyond a call, and never raises into the watched program.
"""
