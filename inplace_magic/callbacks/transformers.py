"""A watch as a callback of Hugging Face's Trainer::

    with InplaceWatch() as watching:
        Trainer(model, args, train_dataset=data, callbacks=[watching]).train()

A ``TrainerCallback`` does not learn of an error that ends the training; the ``with`` does, and ends the watch.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

from inplace_magic.callbacks.run import Watching
from inplace_magic.language import _

if TYPE_CHECKING:
    TrainerCallback: Any = object
else:
    from transformers import TrainerCallback


class InplaceWatch(Watching, TrainerCallback):  # type: ignore[misc]  # of a library that need not be installed
    """Watches some optimizer steps of ``Trainer.train`` within its ``with``. Findings appear on standard error at the
    end of the block, and in the notes of an error that ends it.

    Args:
        schedule: which optimizer steps to watch, see :func:`inplace_magic.schedule`; None: the first three.
        save: as for :class:`inplace_magic.watch`.
        settings: as for :class:`inplace_magic.watch`: ``level``, ``lang`` and so on.

    Raises:
        OptionError: an unknown option or an invalid value.
    """

    def __enter__(self) -> InplaceWatch:
        self._begin_watching()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end_watching(error)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if not self._is_watching:
            text = _("inplace_magic: nothing is watched; write `with callback:` around `trainer.train()`.")
            print(text, file=sys.stderr)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._step_is_done()
