"""The rules that do not run on Paddle's tensors, each with the reason. All others do.

``tests/of_paddle/twins.md`` has for each rule that runs a bad program, in which it is found, and a good one; and for
those that do not, where there is such a program, one by which Paddle shows that the reason is true.
"""

from __future__ import annotations

NOT_FOR_PADDLE: dict[str, str] = {
    "array-shares-memory": "`numpy()` copies, and so do `to_tensor` and `from_numpy`",
    "bucket-left-behind": "an assignment to `.grad` copies, so no gradient is ever a part of another tensor",
    "buffer-gathered": "`to_tensor` and `from_numpy` copy; by DLPack alone is memory shared, which a watch does not "
    "see being written",
    "frozen-but-moved": "Paddle's optimizers pass over a parameter with `stop_gradient=True`",
    "gradient-not-renewed": "an assignment to `.grad` copies, so what the step reads was made by no backward, and the "
    "rule has nothing to tell it by",
    "gradients-left-over": "the backward that fills a gradient after `clear_grad()` is not seen to do so, and the "
    "backwards in a sum are not counted",
    "gradients-thrown-away": "as for `gradients-left-over`: which backward filled a gradient is not seen",
    "graph-grows": "which of what a node keeps is memory of its own is not measured at Paddle's calls",
    "lookup-shortened": "a lookup with `max_norm` is a dozen operations in Paddle, of which none says it",
    "overlap-refused": "Paddle refuses no write for elements that share memory",
    "overlapping-write": "Paddle reads all operands before it writes: results are those of a copy",
    "parameter-without-gradient": "a step of Paddle's optimizers tells nobody which parameters it left out",
    "shared-gradient-edited": "Paddle hands each branch a gradient of its own",
    "source-in-order": "Paddle's `masked_scatter_` is sixteen operations, of which none says it",
    "step-without-gradients": "`clear_grad()` leaves zeros, by which a step is made, and a step is no call",
    "view-written": "Paddle refuses no write of a view; see `history-missed`",
}
"""By the name of the rule. The site shows this as a table (``docs/make_rules.py``)."""
