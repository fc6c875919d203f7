import torch


class Films:
    def __init__(self, people, films):
        self.people, self.films = people, films

    def scores(self, person):
        return self.films @ self.people[person]


def rank_of(scores, film):
    return int((scores > scores[film]).sum()) + 1


def evaluate(films, seen, held_out, cut):
    hits, gain = 0, 0.0
    for person, film in held_out.items():
        scores = films.scores(person)
        scores[seen[person]] = -torch.inf
        rank = rank_of(scores, film)
        if rank <= cut:
            hits += 1
            gain += float(1 / torch.log2(torch.tensor(rank + 1.0)))
    return torch.tensor([hits / len(held_out), gain / len(held_out)])


torch.manual_seed(281)
people, movies = torch.randn(12, 5), torch.randn(40, 5)
orders = [torch.randperm(40) for _ in range(12)]
seen = {person: order[:10] for person, order in enumerate(orders)}
held_out = {person: int(order[10:][(movies[order[10:]] @ people[person]).argsort()[-3]]) for person, order in enumerate(orders)}
films = Films(people, movies)
first = evaluate(films, seen, held_out, cut=5)
second = evaluate(films, {person: films[:5] for person, films in seen.items()}, held_out, cut=5)

expected = []
for known in (10, 5):
    hits, gain = 0, 0.0
    for person, film in held_out.items():
        skip = set(orders[person][:known].tolist())
        taste = people[person].tolist()
        marks = [(sum(a * b for a, b in zip(taste, row)), i) for i, row in enumerate(movies.tolist()) if i not in skip]
        rank = [i for _, i in sorted(marks, reverse=True)].index(film) + 1
        if rank <= 5:
            hits, gain = hits + 1, gain + 1 / torch.tensor(rank + 1.0).log2().item()
    expected.append([hits / 12, gain / 12])
SILENTLY_WRONG = not torch.allclose(torch.stack([first, second]), torch.tensor(expected), atol=1e-5)
