"""Features of images for `dshap experiment`, as the paper makes them: the last layer of a network, 32 principal components.

    python image_features.py mnist --images IMAGES --output DATA     # writes DATA/mnist.parquet

needs torch, torchvision and pyarrow. The functions below need NumPy only and take any network: a function from a batch of
images to one row of features for each.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Callable, Iterable

import numpy as np

#: Components that the paper keeps.
COMPONENTS = 32


def features(network: Callable[[Any], Any], batches: Iterable[tuple[Any, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of all images, in their order."""
    rows, labels = [], []
    for images, of_images in batches:
        rows.append(np.asarray(network(images), dtype=float))
        labels.append(np.asarray(of_images))
    return np.concatenate(rows), np.concatenate(labels)


def principal_components(train: np.ndarray, test: np.ndarray, k: int = COMPONENTS) -> tuple[np.ndarray, np.ndarray]:
    """Components of the training rows, and of the test rows along the same axes."""
    mean = train.mean(axis=0)
    _, axes = np.linalg.eigh(np.cov(train - mean, rowvar=False))
    axes = axes[:, ::-1][:, :k]
    # The sign of an axis has no meaning; its largest entry becomes positive.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return (train - mean) @ axes, (test - mean) @ axes


def columns(train: np.ndarray, train_labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray) -> dict[str, Any]:
    """The columns of the table: features, `label` and `split`."""
    both = np.concatenate([train, test])
    table: dict[str, Any] = {f"pc{j}": both[:, j] for j in range(both.shape[1])}
    table["label"] = np.concatenate([train_labels, test_labels])
    table["split"] = ["train"] * len(train) + ["test"] * len(test)
    return table


def resnet18() -> Callable[[Any], Any]:
    """The penultimate layer of ResNet18 with the weights of ImageNet."""
    import torch
    from torchvision.models import ResNet18_Weights, resnet18

    network = resnet18(weights=ResNet18_Weights.IMAGENET1K_V1).eval()
    network.fc = torch.nn.Identity()

    def penultimate(images: Any) -> Any:
        with torch.no_grad():
            return network(images).numpy()

    return penultimate


def batches(name: str, folder: Path, is_train: bool) -> Iterable[tuple[Any, Any]]:
    """Images and labels of a dataset of torchvision, as ResNet18 wants them."""
    from torch.utils.data import DataLoader
    from torchvision import datasets, transforms

    kinds = {"mnist": datasets.MNIST, "fashion-mnist": datasets.FashionMNIST, "cifar10": datasets.CIFAR10}
    prepared = transforms.Compose(
        [
            transforms.Grayscale(3) if name != "cifar10" else transforms.Lambda(lambda image: image),
            transforms.Resize((224, 224)),
            transforms.ToTensor(),
            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )
    return DataLoader(kinds[name](folder, train=is_train, download=True, transform=prepared), batch_size=256)


def main() -> None:
    """Writes the table of one dataset."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=["mnist", "fashion-mnist", "cifar10"])
    parser.add_argument("--images", type=Path, required=True, help="where torchvision keeps images")
    parser.add_argument("--output", type=Path, required=True, help="the folder for `dshap experiment --data`")
    given = parser.parse_args()
    network = resnet18()
    train, train_labels = features(network, batches(given.name, given.images, True))
    test, test_labels = features(network, batches(given.name, given.images, False))
    train, test = principal_components(train, test)
    table = columns(train, train_labels, test, test_labels)
    given.output.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(table), given.output / f"{given.name}.parquet")


if __name__ == "__main__":
    main()
