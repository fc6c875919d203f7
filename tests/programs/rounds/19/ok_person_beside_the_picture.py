import torch


class ChannelNormalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, image):
        for channel, mean, std in zip(image, self.mean, self.std):
            channel.sub_(mean).div_(std)
        return image

    def inverse(self, image):
        return torch.stack([c * s + m for c, m, s in zip(image, self.mean, self.std)])


class PeopleDataset(torch.utils.data.Dataset):
    def __init__(self, images, joints, normalize):
        self.images, self.joints, self.normalize = images, joints, normalize

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = torch.from_numpy(self.images[index].numpy() / 255.0)
        if index % 2:
            image = image.flip(2)
        item = {"original": image.clone(), "joints": self.joints[index].clone()}
        item["joints"].sub_(item["joints"].mean(dim=0))
        item["image"] = self.normalize(image)
        return item


def overlay(item, normalize):
    return (item["original"] - normalize.inverse(item["image"])).abs().max()


def epoch(loader):
    means, spreads, brightness = [], [], []
    for batch in loader:
        means.append(batch["image"].mean(dim=(0, 2, 3)))
        spreads.append(batch["joints"].square().mean())
        brightness.append(batch["original"].mean())
    return torch.stack(means), torch.stack(spreads), torch.stack(brightness)


torch.manual_seed(2909)
images = torch.randint(0, 256, (6, 3, 5, 5)).double()
joints = torch.randn(6, 7, 2).double()
mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
data = PeopleDataset(images, joints, ChannelNormalize(mean, std))
loader = torch.utils.data.DataLoader(data, batch_size=3)
for _ in range(2):
    result = epoch(loader)

pictures = images / 255
level, spread = torch.tensor(mean).double(), torch.tensor(std).double()
centred = joints - joints.mean(dim=1, keepdim=True)
expected = [
    torch.stack([(part.mean(dim=(0, 2, 3)) - level) / spread for part in pictures.split(3)]),
    torch.stack([part.square().mean() for part in centred.split(3)]),
    torch.stack([part.mean() for part in pictures.split(3)]),
]
right = all(torch.allclose(a, b) for a, b in zip(result, expected))
SILENTLY_WRONG = not (right and overlay(data[1], data.normalize).item() < 1e-9)
