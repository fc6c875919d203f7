"""Lesson 10: the clinic. The programs themselves are in :mod:`inplace_magic.lessons.clinic`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Exercise, Feedback


def _patient(key: str) -> Callable[[Callable[..., Any]], Feedback]:
    """The judge of one patient; torch is imported when somebody is examined."""

    def judge(function: Callable[..., Any]) -> Feedback:
        from inplace_magic.lessons.clinic import PATIENTS

        return PATIENTS[key].judge(function)

    return judge


EXERCISES = (
    Exercise(
        key="10.1",
        judge=_patient("10.1"),
        hints=(
            lambda: _("The report names two lines: one saved `weights`, another wrote it. Which of them can change?"),
            lambda: _("`a *= b` writes the tensor `a`. `a = a * b` makes a new one."),
        ),
        solution=(
            "def attend(scores, values, keep):\n    weights = scores.softmax(-1)\n    weights = weights * keep\n"
            "    weights /= weights.sum(-1, keepdim=True)\n    return weights @ values"
        ),
        because=lambda: _(
            "The gradient of softmax is computed from its result, so that result has to stay. The second in-place line "
            "may stay as it is: it writes the product, which nobody has saved."
        ),
    ),
    Exercise(
        key="10.2",
        judge=_patient("10.2"),
        hints=(
            lambda: _("Is the step a part of the computation whose gradient is wanted, or an update of the values?"),
            lambda: _("An update of a leaf belongs under `with torch.no_grad():`."),
        ),
        solution=(
            "def attack(image, weight, size):\n    noise = torch.zeros_like(image, requires_grad=True)\n"
            "    for _ in range(3):\n        loss = torch.tanh((image + noise) @ weight).sum()\n"
            "        loss.backward()\n        with torch.no_grad():\n            noise += size * noise.grad.sign()\n"
            "        noise.grad.zero_()\n    return noise.detach()"
        ),
        because=lambda: _(
            "Under `no_grad` the write is not recorded, so `noise` stays the leaf in which the next gradient arrives."
        ),
    ),
    Exercise(
        key="10.3",
        judge=_patient("10.3"),
        hints=(
            lambda: _(
                "`chunk` gives two views at once. Does `log_std` have to be that view, or only to have its values?"
            ),
            lambda: _("The out-of-place form of `clamp_` is `clamp`. Its result needs a name."),
        ),
        solution=(
            "def policy_loss(features, weight, actions):\n    mean, log_std = (features @ weight).chunk(2, dim=-1)\n"
            "    log_std = log_std.clamp(-1.0, 1.0)\n"
            "    return (log_std + 0.5 * ((actions - mean) / log_std.exp()).square()).mean()"
        ),
        because=lambda: _("`clamp` gives a tensor of its own, and the views of `chunk` are only read."),
    ),
    Exercise(
        key="10.4",
        judge=_patient("10.4"),
        hints=(
            lambda: _("Which values of the weights does backward need: those before the clipping, or those after it?"),
            lambda: _("Move the two lines that clip to after `optimizer.step()`."),
        ),
        solution=(
            "def critic_step(critic, real, fake, optimizer):\n    loss = critic(fake).mean() - critic(real).mean()\n"
            "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n    with torch.no_grad():\n"
            "        for p in critic.parameters():\n            p.clamp_(-0.1, 0.1)"
        ),
        because=lambda: _(
            "Backward needs the weights that the forward pass used. After the step nobody needs them any more. "
            "`no_grad` instead of `.data`: the version moves, so PyTorch would notice if the line came too early again."
        ),
    ),
    Exercise(
        key="10.5",
        judge=_patient("10.5"),
        hints=(
            lambda: _("What does the first column hold after its first element has been divided by itself?"),
            lambda: _("Either make a new tensor, or read the first column from a copy."),
        ),
        solution="def index_prices(prices):\n    return prices / prices[:, :1]",
        because=lambda: _("The result is a new tensor, so the first column keeps its old values until the end."),
    ),
    Exercise(
        key="10.6",
        judge=_patient("10.6"),
        hints=(
            lambda: _("How many rows of memory are there behind the masks of the three sentences?"),
            lambda: _(
                "`expand` copies nothing. `.clone()` after it, or `.repeat` instead of it, gives each sentence its own."
            ),
        ),
        solution=(
            "def padding_mask(length, lengths):\n    causal = torch.ones(length, length).tril()\n"
            "    mask = causal.expand(len(lengths), length, length).clone()\n    for i, n in enumerate(lengths):\n"
            "        mask[i, :, n:] = 0\n    return mask"
        ),
        because=lambda: _("After `.clone()` each sentence has elements of its own, and a write reaches only them."),
    ),
    Exercise(
        key="10.7",
        judge=_patient("10.7"),
        hints=(
            lambda: _("Which other branch of the addition gets the very gradient that the hook writes?"),
            lambda: _("What a hook returns takes the place of the gradient. It need not write anything."),
        ),
        solution=(
            "def two_towers(text, image, text_weight, image_weight):\n    image_part = image @ image_weight\n"
            "    text_part = text @ text_weight\n    text_part.register_hook(lambda grad: grad * 0.1)\n"
            "    return (text_part + image_part).square().sum()"
        ),
        because=lambda: _(
            "The hook returns a new gradient for its branch; the other branch gets the old one untouched."
        ),
    ),
    Exercise(
        key="10.8",
        judge=_patient("10.8"),
        hints=(
            lambda: _("How many tensors are there after `labels = tokens`?"),
            lambda: _("The copy has to be made before the write."),
        ),
        solution=(
            "def mask_tokens(tokens, chosen, mask_id):\n    labels = tokens.clone()\n    tokens[chosen] = mask_id\n"
            "    return tokens, labels"
        ),
        because=lambda: _(
            "Now `labels` is a tensor of its own, copied while the words were still there. (The caller's "
            "`tokens` are written all the same; `tokens = tokens.clone()` instead would leave them alone.)"
        ),
    ),
    Exercise(
        key="10.9",
        judge=_patient("10.9"),
        hints=(
            lambda: _("A list holds references. How many different tensors are in `path`?"),
            lambda: _("Make a new `height` in each step, or put a copy into the list."),
        ),
        solution=(
            "def fall(height, speed, steps, dt):\n    path = []\n    for _ in range(steps):\n"
            "        path.append(height.clone())\n        speed = speed - 9.81 * dt\n        height += speed * dt\n"
            "    return torch.stack(path)"
        ),
        because=lambda: _("Each entry of the list is a tensor of its own, with the height of its moment."),
    ),
    Exercise(
        key="10.10",
        judge=_patient("10.10"),
        hints=(
            lambda: _("Does `state_dict()` copy the weights, or only refer to them?"),
            lambda: _("`copy.deepcopy(model.state_dict())` copies."),
        ),
        solution=(
            "import copy\n\n\ndef train(model, x, y, steps):\n"
            "    optimizer = torch.optim.SGD(model.parameters(), lr=0.6)\n"
            '    best_loss = float("inf")\n    for _ in range(steps):\n        loss = (model(x) - y).square().mean()\n'
            "        if loss.item() < best_loss:\n            best_loss = loss.item()\n"
            "            best = copy.deepcopy(model.state_dict())\n        optimizer.zero_grad()\n"
            "        loss.backward()\n        optimizer.step()\n    model.load_state_dict(best)"
        ),
        because=lambda: _("The copy keeps the weights of the best step, whatever the optimizer writes afterwards."),
    ),
)
