import torch


class Track:
    """Kalman filter for one boat along the channel: place and speed."""

    move = torch.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=torch.float64)
    drift = torch.diag(torch.tensor([0.02, 0.05], dtype=torch.float64))
    spread = torch.diag(torch.tensor([4.0, 1.0], dtype=torch.float64))
    radar = 0.5

    def __init__(self, place):
        self.state = torch.tensor([place, 0.0], dtype=torch.float64)

    def predict(self):
        self.state = self.move @ self.state
        self.spread.copy_(self.move @ self.spread @ self.move.T + self.drift)

    def update(self, echo):
        gain = self.spread[:, 0] / (self.spread[0, 0] + self.radar)
        self.state = self.state + gain * (echo - self.state[0])
        self.spread -= torch.outer(gain, self.spread[0])


class Radar:
    def __init__(self):
        self.tracks = {}

    def sweep(self, echoes):
        for name, echo in echoes.items():
            if name not in self.tracks:
                self.tracks[name] = Track(echo)
                continue
            track = self.tracks[name]
            track.predict()
            track.update(echo)


torch.manual_seed(15)
speeds = {"ferry": 3.0, "tug": 1.2, "yacht": -2.0}
arrival = {"ferry": 0, "tug": 4, "yacht": 7}
echoes = []
for k in range(15):
    seen = {}
    for name, speed in speeds.items():
        if k >= arrival[name]:
            seen[name] = speed * (k - arrival[name]) + 0.7 * float(torch.randn(()))
    echoes.append(seen)

radar = Radar()
for seen in echoes:
    radar.sweep(seen)
found = {name: track.state.tolist() for name, track in radar.tracks.items()}
print(found)

wrong = False
for name in speeds:
    line = [seen[name] for seen in echoes if name in seen]
    x, v = line[0], 0.0
    a, b, c = 4.0, 0.0, 1.0
    for z in line[1:]:
        x = x + v
        a, b, c = a + 2 * b + c + 0.02, b + c, c + 0.05
        ga, gb = a / (a + 0.5), b / (a + 0.5)
        x, v = x + ga * (z - x), v + gb * (z - x)
        a, b, c = a - ga * a, b - ga * b, c - gb * b
    wrong = wrong or abs(found[name][0] - x) > 1e-6 or abs(found[name][1] - v) > 1e-6
SILENTLY_WRONG = wrong
