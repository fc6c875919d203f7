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
            "{backward} adds to {gradient}, which {step} had used already and nobody cleared, so {next} goes along "
            "the sum of the gradients of several steps. PyTorch gives no error."
        ),
        fix=N_("Clear the gradients between two steps: `optimizer.zero_grad()`, or `model.zero_grad()`."),
        wrote=N_("adds to it here"),
        reads=N_("steps by the sum here"),
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
            "{backward} adds to {gradient}, which {step} had read already and nobody cleared, so the next time it "
            "reads the sum of several gradients. PyTorch gives no error."
        ),
        fix=N_("Ask for the gradient itself, which adds to nothing: `torch.autograd.grad(output, input)`."),
        wrote=N_("adds to it here"),
        reads=N_("steps by the sum here"),
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
            "{second} adds to {gradient}, where {first} has left the gradient of another loss: that one went through "
            "{leaf} to {other}, which {moved} moved by it. {step} goes along the sum of both. PyTorch gives no error."
        ),
        fix=N_("Clear the gradients right before the backward that the step shall follow: `optimizer.zero_grad()`."),
        wrote=N_("adds to it here"),
        reads=N_("steps by the sum here"),
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
            "{first} was to move {other}, which {moved} did, and its loss went through {other} to {leaf} as well: what "
            "it left in {gradient} is still there when {second} adds to it, and {step} goes along the sum of both. "
            "PyTorch gives no error."
        ),
        fix=N_(
            "Cut the way off where only the judge learns (`judge(fake.detach())`), or clear the gradients right before "
            "the backward that the step shall follow."
        ),
        wrote=N_("fills it here"),
        reads=N_("steps by the sum here"),
    ),
    Row(
        "gradient-scaled-early",
        "silent",
        sequence("a[^acmsx]*(?P<line>x)[^acms]*(?P<backward>a)[^cms]*s", of_new_numbers),
        write="line",
        read="backward",
        message=N_(
            "{line} scales {gradient} in the middle of a sum: {backward} adds to it afterwards, so the shares of the "
            "backwards are scaled differently. PyTorch gives no error."
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
            "{step} goes along the sum of {usual} backwards, and some passes later along {larger}: {backward} had left "
            "{extra} in {gradient} that no step was made by and nobody cleared. PyTorch gives no error."
        ),
        fix=N_("Step and clear after the last batch of an epoch as well, or clear the gradients before the next one."),
        wrote=N_("left here"),
        reads=N_("steps by the sum here"),
    ),
    Row(
        "gradients-thrown-away",
        "warning",
        sums.all_thrown_away,
        write="clear",
        read="step",
        origin="backward",
        message=N_(
            "{clear} clears what {backward} has left in {gradient} before anybody reads it, {thrown} times for each "
            "step: {step} goes along the gradients of the last backward alone. PyTorch gives no error."
        ),
        fix=N_(
            "Clear the gradients where a step has used them, and nowhere before: move `zero_grad()` to right after "
            "`step()`."
        ),
        wrote=N_("cleared here"),
        reads=N_("steps by the last one alone here"),
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
            "{clear} clears what {backward} has left in {gradient} before anybody reads it: a step comes after every "
            "{usual} backwards, and {step} goes along {left} of them. PyTorch gives no error."
        ),
        fix=N_("Clear the gradients where a step has used them, and nowhere before."),
        wrote=N_("cleared here"),
        reads=N_("steps by the rest here"),
        came=N_("fills them here"),
    ),
    Row(
        "bucket-left-behind",
        "warning",
        bucket.left_behind,
        write="taken",
        read="read",
        message=N_(
            "{taken} takes away the gradients that were parts of {bucket}, so {filled} makes new ones elsewhere, and "
            "{read} uses {bucket} as if they were still in it. PyTorch gives no error."
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
            "{read} reads {gradient}, but {write} had added to it for its step: it is no longer what backward left. "
            "PyTorch gives no error."
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
            "{line} changes {gradient} after {step} has moved the weights by it, and it is cleared before anybody "
            "reads it: the change has no effect. PyTorch gives no error."
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
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {backward} had filled them "
            "({named}), and they were cleared in between. PyTorch gives no error."
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
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {cut} makes a new leaf of what was "
            "computed, which cuts it off its history, so {backward} reached that leaf and nothing before it. PyTorch "
            "gives no error."
        ),
        fix=N_("Keep the computed tensor as it is: no `nn.Parameter`, `detach()` or `.data` around it."),
        wrote=N_("cut off here"),
        reads=N_("moves nothing here"),
        came=N_("ends at the new leaf here"),
    ),
    Row(
        "step-without-gradients",
        "silent",
        steps.of_others,
        write="step",
        origin="backward",
        message=N_(
            "{step} moves nothing: no parameter of the {optimizer} has a gradient. {backward} filled those of other "
            "tensors ({named}), which nothing moves. PyTorch gives no error."
        ),
        fix=N_("Make the optimizer when the model has the parameters that it is to train, or hand it the new ones."),
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
            "{step} does not move {named}: in {cut}, {code} {how}. {backward} went back to what was computed from its "
            "result, and not through it. PyTorch gives no error."
        ),
        fix=N_("{cure}"),
        wrote=N_("cut off here"),
        reads=N_("goes on without the history here"),
        came=N_("leaves the parameters as they are here"),
    ),
    Row(
        "gradient-not-renewed",
        "warning",
        steps.by_an_old_gradient,
        write="step",
        origin="backward",
        message=N_(
            "{step} steps by a gradient that it had used before: {backward} ran in between and did not write it, so it "
            "filled the `.grad` of other tensors. PyTorch gives no error."
        ),
        fix=N_(
            "Hand the new gradients over before each step (`shared.grad = local.grad`), or let backward fill those of "
            "the tensors that the optimizer moves."
        ),
        wrote=N_("steps by the older one here"),
        came=N_("fills others here"),
    ),
    Row(
        "frozen-but-moved",
        "warning",
        steps.of_the_frozen,
        write="line",
        message=N_(
            "{line} moves {tensor}, which no longer requires a gradient: the optimizer still has it, with the gradient "
            "or the momentum of earlier steps. PyTorch gives no error."
        ),
        fix=N_(
            "Drop the gradients of what is frozen (`p.grad = None`, `zero_grad(set_to_none=True)`), or give the "
            "optimizer only what is trained."
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
            "{cut} cuts {tensor} itself off its history, and {read} reads it after that: no gradient of what follows "
            "reaches what made it. PyTorch gives no error."
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
            "{line} edits {tensor} in place while backward runs. An addition hands the same gradient buffer to both of "
            "its branches, so the other branch's gradient changes too. PyTorch gives no error; a hook or `backward` "
            "must not modify its argument."
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
