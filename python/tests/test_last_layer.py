"""The recipe for the last layer of a torch network, with a small network of random weights.

`./test peers` runs it, in an environment with torch. Elsewhere it is skipped.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import dshap

torch = pytest.importorskip("torch", reason="torch is not installed: ./test peers installs it")

RECIPE = Path(__file__).parents[2] / "docs" / "recipes" / "last_layer.py"
spec = importlib.util.spec_from_file_location("last_layer", RECIPE)
recipe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recipe)


@pytest.fixture
def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(144, 8),
        torch.nn.ReLU(), torch.nn.Linear(8, 2),
    )  # fmt: skip


@pytest.fixture
def images():
    torch.manual_seed(1)
    labels = torch.arange(120) % 2
    return torch.randn(120, 1, 8, 8), labels


def batches(images, size=50):
    for start in range(0, len(images[1]), size):
        yield tuple(part[start : start + size] for part in images)


def test_features_are_what_goes_into_the_last_linear_map(network, images):
    network.train()
    features, labels = recipe.last_layer(network, batches(images))
    with torch.no_grad():
        network.eval()
        expected = network[:-1](images[0]).numpy()
        logits = network(images[0]).numpy()
    assert features.shape == (120, 8) and np.allclose(features, expected, atol=1e-6)
    assert (labels == images[1].numpy()).all()
    last = network[-1]
    assert np.allclose(features @ last.weight.detach().numpy().T + last.bias.detach().numpy(), logits, atol=1e-5)


def test_the_network_stays_as_it_was(network, images):
    network.train()
    before = [parameter.clone() for parameter in network.parameters()]
    recipe.last_layer(network, batches(images))
    assert network.training and not network[-1]._forward_pre_hooks
    assert all((one == other).all() for one, other in zip(before, network.parameters()))


def test_another_layer(network, images):
    features, _ = recipe.last_layer(network, batches(images), layer=network[4])
    assert features.shape == (120, 144)
    with pytest.raises(ValueError, match="no linear layer"):
        recipe.last_layer(torch.nn.Flatten(), batches(images))


def test_rows_are_valued_by_them(network, images):
    features, _ = recipe.last_layer(network, batches(images))
    # Labels that the last layer can tell apart, six of them wrong.
    score = features @ np.linspace(-1, 1, 8)
    right = score > np.median(score)
    labels = right.copy()
    clear = np.argsort(-np.abs(score - np.median(score)))[:6]
    labels[clear] = ~labels[clear]
    penalty = dshap.ClassificationValuer().fit(features, labels).explain_training().penalty
    assert np.isfinite(penalty).all()
    assert dshap.evaluate.noise_detection({"penalty": -penalty}, labels != right).auc[0] > 0.9
