"""The write side: what a framework does during a watch becomes a :class:`~inplace_magic.record.trace.Trace`.

It may know PyTorch (in ``torch/``) and Paddle (in ``paddle/``) by name, the user's frames and objects, and the text.
It does not know what is a mistake nor how anything is shown, holds no tensor or node beyond a call, and never raises
into the watched program.
"""
