"""Value rows by the last layer of a torch network: the features before its final linear map.

    features, labels = last_layer(network, loader)
    valuer = dshap.ClassificationValuer(pca=32).fit(features, labels)

The network and its weights stay as they are. `loader` yields pairs of a batch of inputs and a batch of labels, as
`torch.utils.data.DataLoader` does.
"""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np


def last_layer(
    network: Any, batches: Iterable[tuple[Any, Any]], layer: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """What goes into `layer`, by default the last linear one, for every row; and the labels, in their order."""
    import torch

    if layer is None:
        linear = [module for module in network.modules() if isinstance(module, torch.nn.Linear)]
        if not linear:
            raise ValueError("the network has no linear layer; name the one to look into with `layer`")
        layer = linear[-1]
    seen: list[Any] = []
    hook = layer.register_forward_pre_hook(lambda _, given: seen.append(given[0].detach().flatten(1).cpu()))
    was_training = network.training
    labels = []
    try:
        # Dropout and batch normalisation as in use, not as in training.
        network.eval()
        with torch.no_grad():
            for inputs, of_inputs in batches:
                network(inputs)
                labels.append(np.asarray(of_inputs))
    finally:
        hook.remove()
        network.train(was_training)
    return torch.cat(seen).numpy().astype(float), np.concatenate(labels)
