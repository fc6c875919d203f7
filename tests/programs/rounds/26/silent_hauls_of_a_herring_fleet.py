import torch


def log_season(hauls, weights):
    """Logbook of all hauls and the season's catch of each boat, in kg per size class."""
    logbook, season = [], {}
    for boat, fish in hauls:
        catch = fish * weights
        logbook.append((boat, catch))
        if boat in season:
            season[boat] += catch
        else:
            season[boat] = catch
    return logbook, season


def typical_haul(logbook):
    return torch.stack([catch for _, catch in logbook]).mean(dim=0)


torch.manual_seed(3)
weights = torch.tensor([0.05, 0.11, 0.18, 0.26])
boats = ["Alma", "Brise", "Cormoran"]
hauls = [(boats[k % 3], torch.randint(50, 400, (4,)).float()) for k in range(12)]

logbook, season = log_season(hauls, weights)
typical = typical_haul(logbook)
for boat, catch in season.items():
    print(f"{boat:10s} {catch.sum().item():8.1f} kg")
print("typical haul", typical.tolist())

fish = torch.stack([fish for _, fish in hauls])
expected = fish.sum(dim=0) * weights / len(hauls)
SILENTLY_WRONG = not torch.allclose(typical, expected, rtol=1e-4)
