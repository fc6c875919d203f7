import math

import torch


class HarbourPatrol:
    def __init__(self, buoy, speed=0.25):
        self.buoy, self.speed = buoy, speed
        self.state = {}

    def reset(self, place):
        self.state = {"place": place.clone(), "fuel": torch.tensor(1.0), "hits": 0}
        return torch.cat([place, self.state["fuel"][None]])

    def reward(self, before, after):
        nearer = torch.dist(before["place"], self.buoy) - torch.dist(after["place"], self.buoy)
        burnt = before["fuel"] - after["fuel"]
        return float(nearer - 0.5 * burnt) + 10.0 * (after["hits"] - before["hits"])

    def step(self, heading):
        before = self.state.copy()
        move = torch.tensor([math.cos(heading), math.sin(heading)])
        self.state["place"] += self.speed * move
        self.state["fuel"] -= 0.02
        if torch.dist(self.state["place"], self.buoy) < 0.2:
            self.state["hits"] += 1
        return self.reward(before, self.state)


def rollout(patrol, start, headings):
    patrol.reset(start)
    return [patrol.step(heading) for heading in headings]


buoy, start = torch.tensor([2.0, 1.5]), torch.tensor([0.0, 0.0])
headings = [0.6435 + 0.3 * math.sin(step) for step in range(12)]
rewards = rollout(HarbourPatrol(buoy), start, headings)

place, expected = (0.0, 0.0), []
for heading in headings:
    moved = (place[0] + 0.25 * math.cos(heading), place[1] + 0.25 * math.sin(heading))
    old, new = math.dist(place, (2.0, 1.5)), math.dist(moved, (2.0, 1.5))
    expected.append(old - new - 0.01 + 10.0 * (new < 0.2))
    place = moved
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(rewards, expected)) > 1e-3
