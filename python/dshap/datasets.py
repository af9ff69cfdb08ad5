"""Data of the paper, generated when asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["gaussian_c", "gaussian_r"]

#: The coefficients of Gaussian-C: only the first feature matters.
GAUSSIAN_C_COEF = (2.0, 0.0, 0.0)


def gaussian_r(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    coef: bool = False,
    seed: int | np.random.Generator = 0,
) -> tuple[NDArray[Any], ...]:
    """Gaussian-R, a regression: features, coefficients and noise are standard normal.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of `X`.
    coef : bool
        Whether to return the true coefficients as well.
    seed : int or numpy.random.Generator
        Source of the draws; the same seed gives the same data.

    Returns
    -------
    X, y[, coef] : arrays
        ``y = X @ coef + noise``.

    Examples
    --------
    >>> from dshap.datasets import gaussian_r
    >>> X, y, beta = gaussian_r(500, 4, coef=True, seed=7)
    >>> X.shape, y.shape, beta.shape
    ((500, 4), (500,), (4,))
    >>> bool(abs(np.var(y - X @ beta) - 1) < 0.2)
    True
    """
    rng = np.random.default_rng(seed)
    beta = rng.standard_normal(n_features)
    X = rng.standard_normal((n_samples, n_features))
    y = X @ beta + rng.standard_normal(n_samples)
    return (X, y, beta) if coef else (X, y)


def gaussian_c(
    n_samples: int = 1000, *, coef: bool = False, seed: int | np.random.Generator = 0
) -> tuple[NDArray[Any], ...]:
    """Gaussian-C, a classification: three standard normal features, β = (2, 0, 0).

    Labels are 1 with probability ``1 / (1 + exp(-X @ β))``, else 0.

    Parameters
    ----------
    n_samples : int
        Rows of `X`.
    coef : bool
        Whether to return the true coefficients as well.
    seed : int or numpy.random.Generator
        Source of the draws; the same seed gives the same data.

    Returns
    -------
    X, y[, coef] : arrays
        Features, and labels 0 and 1.

    Examples
    --------
    >>> from dshap.datasets import gaussian_c
    >>> X, y = gaussian_c(400, seed=3)
    >>> X.shape, sorted(set(y.tolist()))
    ((400, 3), [0, 1])
    """
    rng = np.random.default_rng(seed)
    beta = np.array(GAUSSIAN_C_COEF)
    X = rng.standard_normal((n_samples, len(beta)))
    y = (rng.random(n_samples) < 1 / (1 + np.exp(-X @ beta))).astype(np.int64)
    return (X, y, beta) if coef else (X, y)
