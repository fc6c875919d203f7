import numpy as np
import torch


def difference(times, trained):
    return times[trained].median() - times[~trained].median()


def permutation_test(times, trained, rounds, rng):
    observed = difference(times, trained)
    drawn = trained.clone()
    shuffled = drawn.numpy()
    extreme = 0
    for _ in range(rounds):
        rng.shuffle(shuffled)
        extreme += int(difference(times, drawn).abs() >= observed.abs())
    return (extreme + 1) / (rounds + 1)


def report(times, trained, rng):
    return {
        "p": permutation_test(times, trained, rounds=200, rng=rng),
        "effect": float(difference(times, trained)),
        "pilots": int(trained.sum()),
    }


torch.manual_seed(103)
trained = torch.rand(51) < 0.5
times = 400 + 30 * torch.randn(51) - 40 * trained
values, groups = times.tolist(), trained.tolist()
result = report(times, trained, np.random.default_rng(109))


def lower_median(numbers):
    return sorted(numbers)[(len(numbers) - 1) // 2]


with_training = [value for value, group in zip(values, groups) if group]
without = [value for value, group in zip(values, groups) if not group]
effect = lower_median(with_training) - lower_median(without)
rng, extreme = np.random.default_rng(109), 0
order = np.array(groups)
for _ in range(200):
    rng.shuffle(order)
    first, second = np.array(values)[order], np.array(values)[~order]
    extreme += abs(lower_median(first) - lower_median(second)) >= abs(effect) - 1e-9
SILENTLY_WRONG = abs(result["effect"] - effect) > 1e-3 or abs(result["p"] - (extreme + 1) / 201) > 0.02
