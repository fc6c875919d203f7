"""Bad sequences in the life of a gradient: one row each. The pages of the codes are in ``pages/gradients.md``."""

from __future__ import annotations

from inplace_magic.hazards.fixes.new_tensor import new_gradient, value_given
from inplace_magic.hazards.gradients import another_loss, bucket, cures, history, shared, steps, sums
from inplace_magic.hazards.gradients.row import Row, rules_of
from inplace_magic.hazards.gradients.sequences import edited_by_step, edited_late, of_new_numbers, of_one_line, sequence
from inplace_magic.hazards.gradients.unarrived import unarrived
from inplace_magic.hazards.rule import Cures
from inplace_magic.language import N_

TABLE = (
    Row(
        "gradient-not-cleared",
        "warning",
        sequence("(?P<step>s)[^acms]*(?P<backward>a)[^cms]*(?P<next>s)"),
        write="backward",
        read="next",
        origin="step",
        message=N_(
            "{backward} adds to {gradient}, which nothing cleared after {step} used it, so {next} uses the sum "
            "of the gradients of several steps. PyTorch gives no error."
        ),
        fix=N_(
            "Clear {gradient} between two steps: by the optimizer that holds its parameter (`optimizer.zero_grad()`), "
            "or by `model.zero_grad()`."
        ),
        wrote=N_("adds to it here"),
        reads=N_("uses the sum here"),
        came=N_("used here"),
        cures=Cures((cures.cleared_after_the_step,)),
    ),
    Row(
        "gradient-not-cleared",
        "warning",
        sequence("(?P<step>r)[^acm]*(?P<backward>a)[^cmr]*(?P<next>r)", of_one_line),
        write="backward",
        read="next",
        origin="step",
        message=N_(
            "{backward} adds to {gradient}, which nothing cleared after {step} read it, so {step} reads the sum "
            "of several gradients the next time. PyTorch gives no error."
        ),
        fix=N_("Ask for the gradient itself, which adds to nothing: `torch.autograd.grad(output, input)`."),
        wrote=N_("adds to it here"),
        reads=N_("uses the sum here"),
        came=N_("used here"),
    ),
    Row(
        "gradient-of-another-loss",
        "warning",
        sequence("(?P<first>a)[^acms]*(?P<second>a)[^cms]*(?P<step>s)", another_loss.on_the_way),
        write="second",
        also="first",
        read="step",
        origin="first",
        message=N_(
            "{second} adds to {gradient}, where {first} left the gradient of another loss: that loss went "
            "through {leaf} to {other}, which {moved} then moved. {step} uses the sum of both. PyTorch gives no "
            "error."
        ),
        fix=N_("Clear the gradients right before the backward that the step is to follow: `optimizer.zero_grad()`."),
        wrote=N_("adds to it here"),
        reads=N_("uses the sum here"),
        came=N_("left here"),
        cures=Cures((cures.cleared_before_the_backward,)),
    ),
    Row(
        "gradient-of-another-loss",
        "warning",
        sequence("(?P<first>a)[^acms]*(?P<second>a)[^cms]*(?P<step>s)", another_loss.through_a_judge),
        write="first",
        also="second",
        read="step",
        message=N_(
            "{first} was for {moved}, which moved {other}, but its loss also went through {other} to {leaf}: "
            "its gradient is still in {gradient} when {second} adds to it, so {step} uses the sum of both. "
            "PyTorch gives no error."
        ),
        fix=N_(
            "Detach the input where only the judge learns (`judge(fake.detach())`), or clear the gradients "
            "right before the backward that the step is to follow."
        ),
        wrote=N_("fills it here"),
        reads=N_("uses the sum here"),
    ),
    Row(
        "gradient-scaled-early",
        "silent",
        sequence("a[^acmsx]*(?P<line>x)[^acms]*(?P<backward>a)[^cms]*s", of_new_numbers),
        write="line",
        read="backward",
        message=N_(
            "{line} scales {gradient} before its sum is complete: {backward} adds to it afterwards, so the "
            "gradients of the backwards are scaled differently. PyTorch gives no error."
        ),
        fix=N_(
            "Scale the loss of each part before its backward (`(loss / n).backward()`), or scale and clip once, below "
            "the last backward and above the step."
        ),
        wrote=N_("scaled here"),
        reads=N_("adds to it here"),
    ),
    Row(
        "gradients-left-over",
        "warning",
        sums.left_over,
        write="backward",
        read="step",
        message=N_(
            "{step} uses the sum of {usual} backwards, and some passes later the sum of {larger}: {backward} "
            "left {extra} in {gradient}, which no step had used and nothing had cleared by then. PyTorch gives "
            "no error."
        ),
        fix=N_("Step and clear after the last batch of an epoch as well, or clear the gradients before the next one."),
        wrote=N_("left here"),
        reads=N_("uses the sum here"),
    ),
    Row(
        "gradients-thrown-away",
        "warning",
        sums.all_thrown_away,
        write="clear",
        read="step",
        origin="backward",
        message=N_(
            "{clear} clears {gradient} after {backward} filled it and before anything reads it, {thrown} times "
            "for each step: {step} uses the gradients of the last backward alone. PyTorch gives no error."
        ),
        fix=N_(
            "Clear the gradients after a step has used them, and nowhere before: move `zero_grad()` to right "
            "after `step()`."
        ),
        wrote=N_("cleared here"),
        reads=N_("uses the last one alone here"),
        came=N_("fills them here"),
        cures=Cures((cures.moved_below_the_step,)),
    ),
    Row(
        "gradients-thrown-away",
        "warning",
        sums.part_thrown_away,
        write="clear",
        read="step",
        origin="backward",
        message=N_(
            "{clear} clears {gradient} after {backward} filled it and before anything reads it: a step comes "
            "after every {usual} backwards, and {step} uses {left} of them. PyTorch gives no error."
        ),
        fix=N_("Clear the gradients after a step has used them, and nowhere before."),
        wrote=N_("cleared here"),
        reads=N_("uses the rest here"),
        came=N_("fills them here"),
    ),
    Row(
        "bucket-left-behind",
        "warning",
        bucket.left_behind,
        write="taken",
        read="read",
        message=N_(
            "{taken} removes the gradients that were parts of {bucket}, so {filled} makes new ones elsewhere, "
            "and {read} uses {bucket} as if the gradients were still in it. PyTorch gives no error."
        ),
        fix=N_("Clear by `zero_grad(set_to_none=False)`, or copy the gradients into that tensor after backward."),
        wrote=N_("takes them out of it here"),
        reads=N_("uses what is no gradient here"),
    ),
    Row(
        "gradient-edited-by-step",
        "warning",
        edited_by_step,
        write="write",
        read="read",
        message=N_(
            "{write} added to {gradient} for its step before {read} reads it: the values are no longer those "
            "that backward left. PyTorch gives no error."
        ),
        fix=N_("Make the direction of the step a tensor of its own: `direction = p.grad.add(…)`, or `p.grad.clone()`."),
        every_call=False,
    ),
    Row(
        "gradient-edited-late",
        "warning",
        edited_late,
        write="line",
        origin="step",
        message=N_(
            "{line} changes {gradient} after {step} has used it, and a clearing follows before anything reads "
            "it: the change has no effect. PyTorch gives no error."
        ),
        fix=N_("Change the gradients between the last `backward` and the step."),
    ),
    Row(
        "step-without-gradients",
        "silent",
        steps.cleared,
        write="clear",
        read="step",
        origin="backward",
        message=N_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {backward} filled the "
            "gradients ({named}), and they were cleared before the step. PyTorch gives no error."
        ),
        fix=N_("Clear the gradients before `backward` or after the step, not between the two."),
        wrote=N_("cleared here"),
        reads=N_("moves nothing here"),
        came=N_("filled here"),
    ),
    Row(
        "step-without-gradients",
        "silent",
        steps.cut_off,
        write="cut",
        read="step",
        origin="backward",
        message=N_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {cut} makes a new leaf of a "
            "computed tensor, without its history, so {backward} reached that leaf and nothing before it. "
            "PyTorch gives no error."
        ),
        fix=N_("Keep the computed tensor as it is: no `nn.Parameter`, `detach()` or `.data` around it."),
        wrote=N_("cut off here"),
        reads=N_("moves nothing here"),
        came=N_("ends at the new leaf here"),
    ),
    Row(
        "step-without-gradients",
        "silent",
        steps.unarrived_at_all,
        write="cut",
        read="step",
        origin="backward",
        message=N_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. In {cut}, {code} {how}, so "
            "{backward} filled the gradients of other tensors ({named}) and went no further back. PyTorch gives no "
            "error."
        ),
        fix=N_("{cure}"),
        wrote=N_("cut off here"),
        reads=N_("moves nothing here"),
        came=N_("fills others here"),
    ),
    Row(
        "step-without-gradients",
        "silent",
        steps.of_others,
        write="step",
        origin="backward",
        message=N_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {backward} filled the "
            "gradients of other tensors ({named}), which nothing moves. PyTorch gives no error."
        ),
        fix=N_(
            "If the loss is computed from these parameters, remove what detaches the loss, such as `detach()` or "
            "`no_grad`. If the model has new ones, make the optimizer after them, or give them to it."
        ),
        wrote=N_("moves nothing here"),
        came=N_("filled here"),
    ),
    Row(
        "parameter-without-gradient",
        "warning",
        unarrived,
        write="cut",
        read="read",
        origin="step",
        message=N_(
            "{step} does not move {named}: in {cut}, {code} {how}. {backward} reached what was computed from "
            "its result, and went no further back. PyTorch gives no error."
        ),
        fix=N_("{cure}"),
        wrote=N_("cut off here"),
        reads=N_("continues without the history here"),
        came=N_("leaves the parameters as they are here"),
    ),
    Row(
        "gradient-not-renewed",
        "warning",
        steps.by_an_old_gradient,
        write="step",
        origin="backward",
        message=N_(
            "{step} uses the same gradient as before: {backward} ran in between and did not write it, but "
            "filled the `.grad` of other tensors. PyTorch gives no error."
        ),
        fix=N_(
            "Assign the new gradients before each step (`shared.grad = local.grad`), or let backward fill the "
            "gradients of the tensors that the optimizer moves."
        ),
        wrote=N_("uses the older gradient here"),
        came=N_("fills others here"),
    ),
    Row(
        "frozen-but-moved",
        "warning",
        steps.of_the_frozen,
        write="line",
        message=N_(
            "{line} moves {tensor}, which no longer requires a gradient: the optimizer still holds {tensor}, "
            "with the gradient or the momentum of earlier steps. PyTorch gives no error."
        ),
        fix=N_(
            "Drop the gradients of the frozen parameters (`p.grad = None`, `zero_grad(set_to_none=True)`), or "
            "give the optimizer only the trained ones."
        ),
        every_call=False,
    ),
    Row(
        "history-cut",
        "warning",
        history.cut,
        write="cut",
        read="read",
        message=N_(
            "{cut} removes the history of {tensor} itself, and {read} then reads it: no gradient from there "
            "reaches what {tensor} was computed from. PyTorch gives no error."
        ),
        fix=N_("Use `detach()`, which gives another tensor and leaves this one as it is."),
        wrote=N_("cut off here"),
        reads=N_("read without its history"),
        cures=Cures((cures.detached_apart,)),
        every_call=False,
    ),
    Row(
        "history-missed",
        "silent",
        history.missed,
        write="write",
        read="read",
        message=N_(
            "{write} wrote {written}, and {read} then reads the new values by way of {other}, whose history is older: "
            "Paddle does not rewrite the history of a tensor when one of its views is written, or the other way round. "
            "So backward goes past that write, and the gradient is wrong. Paddle gives no error."
        ),
        fix=N_(
            "Write through the tensor that is read later, in one step (`h[0:2] = h[0:2] * 8` for `h[0:2].scale_(8)`, "
            "`rows[0, 1] = 0` for `rows[0][1] = 0`), or read only the one that was written."
        ),
        every_call=False,
    ),
    Row(
        "shared-gradient-edited",
        "silent",
        shared.edited_by_a_hook,
        write="line",
        message=N_(
            "{line} edits {tensor} in place while backward runs. An addition gives the same gradient buffer to "
            "both of its branches, so the other branch's gradient changes too. PyTorch gives no error; a hook "
            "or `backward` must not modify its argument."
        ),
        fix=N_("Return a new gradient instead: the out-of-place form of {line}."),
        cures=Cures((value_given, new_gradient)),
        every_call=False,
    ),
    Row(
        "kept-gradient-added-to",
        "warning",
        shared.added_to_what_was_kept,
        write="backward",
        read="read",
        origin="line",
        message=N_(
            "{line} took a gradient without a copy, and the gradient then became `.grad`: {backward} added to it. "
            "{read} reads the sum where it expects the single one. PyTorch gives no error."
        ),
        fix=N_("Keep a copy: append `.clone()` to {code}."),
        wrote=N_("adds to it here"),
        came=N_("taken here"),
        every_call=False,
    ),
)

RULES = rules_of(TABLE)
REST_ON_WHAT_DID_NOT_HAPPEN = frozenset(row.code for row in TABLE if row.every_call)
