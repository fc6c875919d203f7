"""A watch as a callback of Lightning: ``Trainer(callbacks=[InplaceWatch()])``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inplace_magic.callbacks.run import Watching

if TYPE_CHECKING:
    Callback: Any = object
else:
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback  # the same library under its other name


class InplaceWatch(Watching, Callback):  # type: ignore[misc]  # of a library that need not be installed
    """Watches some batches of ``Trainer.fit``. Findings appear on standard error at the end of the fit, and in the
    notes of an error that ends it.

    Args:
        schedule: which training batches to watch, see :func:`inplace_magic.schedule`; None: the first three.
        save: as for :class:`inplace_magic.watch`.
        settings: as for :class:`inplace_magic.watch`: ``level``, ``lang`` and so on.

    Raises:
        OptionError: an unknown option or an invalid value.
    """

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._begin_watching()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        self._step_is_done()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._end_watching()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._end_watching(exception)
