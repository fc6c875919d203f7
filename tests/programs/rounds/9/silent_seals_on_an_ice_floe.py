import torch


def overlap(box, boxes):
    corner = torch.maximum(box[:2], boxes[:, :2])
    other = torch.minimum(box[2:4], boxes[:, 2:4])
    inner = (other - corner).clamp(min=0).prod(dim=1)
    area = (boxes[:, 2:4] - boxes[:, :2]).prod(dim=1)
    return inner / (area + (box[2:4] - box[:2]).prod() - inner)


def soft_suppress(detections, sigma=0.4, least=0.3):
    scores = detections[:, 4]
    waiting = torch.ones(len(scores), dtype=torch.bool)
    kept = []
    while waiting.any():
        best = torch.where(waiting, scores, -1.0).argmax()
        if scores[best] < least:
            break
        waiting[best] = False
        kept.append(int(best))
        decay = torch.exp(-overlap(detections[best], detections).square() / sigma)
        scores.mul_(torch.where(waiting, decay, 1.0))
    return kept


def survey(photos):
    seals, confident = 0, 0
    for detections in photos:
        seals += len(soft_suppress(detections))
        confident += int((detections[:, 4] > 0.6).sum())
    return seals, confident


def photo(generator, count=15):
    corner = torch.rand(count, 2, generator=generator) * 10
    size = torch.rand(count, 2, generator=generator) * 3 + 2
    score = torch.rand(count, 1, generator=generator)
    return torch.cat([corner, corner + size, score], dim=1)


generator = torch.Generator().manual_seed(925)
photos = [photo(generator) for _ in range(6)]
expected_confident = sum(row[4] > 0.6 for image in photos for row in image.tolist())
expected_seals = sum(len(soft_suppress(image.clone())) for image in photos)
SILENTLY_WRONG = survey(photos) != (expected_seals, expected_confident)
