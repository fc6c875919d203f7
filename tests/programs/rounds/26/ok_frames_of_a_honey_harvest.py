import torch


def weigh_harvest(frames, density):
    """Honey of each frame and of each hive, in kg per kind of comb."""
    single, hives = [], {}
    for hive, volume in frames:
        honey = volume * density
        single.append(honey)
        if hive in hives:
            hives[hive] += honey
        else:
            hives[hive] = honey.clone()
    return torch.stack(single), hives


torch.manual_seed(8)
density = torch.tensor([1.38, 1.42, 1.45])
names = ["linden", "orchard", "heath", "roof"]
frames = [(names[k % 4], torch.rand(3)) for k in range(14)]

single, hives = weigh_harvest(frames, density)
median = single.median(dim=0).values
for name, honey in hives.items():
    print(f"{name:8s} {honey.sum().item():6.2f} kg")
print("median frame", median.tolist())

volumes = torch.stack([volume for _, volume in frames])
expected = volumes.median(dim=0).values * density
heath = sum(float((v * density).sum()) for n, v in frames if n == "heath")
SILENTLY_WRONG = (
    not torch.allclose(median, expected) or abs(hives["heath"].sum().item() - heath) > 1e-4
)
