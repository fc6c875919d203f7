import torch
import torch.nn.functional as F


class Subject(dict):
    def spawn(self, **changed):
        return Subject(self, **changed)


def blur(subject, width=3):
    image = F.avg_pool2d(subject["image"][None], width, stride=1, padding=width // 2)[0]
    return subject.spawn(image=image)


def keep_bright(subject, level):
    bright = (subject["image"] > level)[0]
    bright &= subject["bone"]
    return subject.spawn(bone=bright)


def share_kept(subject, level):
    soft = keep_bright(blur(subject), level)
    soft["image"].clamp_(max=level)
    return soft["bone"].sum() / subject["bone"].sum()


torch.manual_seed(270)
yy, xx = torch.meshgrid(torch.arange(20), torch.arange(20), indexing="ij")
bone = (xx - 10) ** 2 + (yy - 9) ** 2 < 50
image = torch.rand(1, 20, 20) + 0.3 * (xx > 9)
subject = Subject(image=image, bone=bone)
shares = [float(share_kept(subject, level)) for level in (0.5, 0.6, 0.7)]

expected = []
disc = (xx - 10) ** 2 + (yy - 9) ** 2 < 50
for level in (0.5, 0.6, 0.7):
    bright = F.avg_pool2d(image[None], 3, stride=1, padding=1)[0, 0] > level
    expected.append(float((disc & bright).sum()) / float(disc.sum()))
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(shares, expected)) > 1e-6
