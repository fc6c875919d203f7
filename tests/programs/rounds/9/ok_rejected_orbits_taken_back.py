import torch


def energy(orbit, time, seen):
    model = orbit[0] + orbit[1] * torch.cos(orbit[2] * time + orbit[3])
    return 8 * (model - seen).square().sum() + 0.1 * orbit.square().sum()


def chain(start, time, seen, steps, chances):
    state, trial = start.clone(), torch.empty_like(start)
    samples = torch.empty(len(steps), len(start))
    level, accepted = energy(state, time, seen), 0
    for number, (step, chance) in enumerate(zip(steps, chances)):
        trial.copy_(state).add_(step, alpha=0.06)
        proposed = energy(trial, time, seen)
        if chance < torch.exp(level - proposed):
            state.copy_(trial)
            level = proposed
            accepted += 1
        samples[number] = state
    return samples, accepted


torch.manual_seed(963)
time = torch.linspace(0, 6, 30)
seen = 0.5 + 1.1 * torch.cos(1.9 * time + 0.4) + 0.1 * torch.randn(30)
start = torch.tensor([0.0, 1.0, 2.0, 0.0])
steps, chances = torch.randn(150, 4), torch.rand(150)
samples, accepted = chain(start, time, seen, steps, chances)

place, expected, moves = start.tolist(), [], 0
for step, chance in zip(steps.tolist(), chances):
    there = [a + 0.06 * b for a, b in zip(place, step)]
    change = energy(torch.tensor(place), time, seen) - energy(torch.tensor(there), time, seen)
    if chance < torch.exp(change):
        place, moves = there, moves + 1
    expected.append(place)
same = torch.allclose(samples, torch.tensor(expected), atol=1e-3)
SILENTLY_WRONG = not (same and moves == accepted and 0 < moves < 150)
