"""What each row of a dataset is worth to a model, exactly.

A row's distributional Shapley value is the gain in a model's accuracy when the
row joins a random set of others, averaged over set sizes. For linear regression,
logistic regression and density estimates it has a closed form, which dshap
evaluates for any row, seen or unseen.

>>> import dshap
>>> X, y = dshap.datasets.gaussian_r(200, 3, seed=1)
>>> valuer = dshap.RegressionValuer().fit(X, y)
>>> valuer.value_training().shape          # each row against the others
(200,)
>>> new_X, new_y = dshap.datasets.gaussian_r(2, 3, seed=2)
>>> valuer.value(new_X, new_y).shape       # rows never seen
(2,)

======================  =====================================================
`RegressionValuer`      values rows for linear regression, as a scikit-learn estimator
`ClassificationValuer`  the same for logistic regression: rows with labels
`DensityValuer`         the same for density estimates: rows without a target
`Values`, `Groups`      results of `explain`: values with their parts, values by owner
`owners`, `payout`      what owners of rows are worth, and what they are paid; `verify` checks receipts
`dshap.baselines`       values by fitting models to sets of rows, for comparison
`dshap.evaluate`        how good values are, whoever made them
`dshap.formula`         the closed forms for given numbers
`dshap.datasets`        data of the paper, generated when asked for
`DshapError`            base of all errors; `InputError` is also a `ValueError`
======================  =====================================================
"""

from dshap import baselines, datasets, evaluate, formula
from dshap._classification import ClassificationValuer
from dshap._density import DensityValuer
from dshap._dshap import __version__
from dshap._errors import DshapError, DshapWarning, FileError, InputError, InputTypeError, NotFittedError
from dshap._groups import Groups
from dshap._owners import Owners, Payout, owners, payout, verify
from dshap._regression import RegressionValuer
from dshap._values import Values

__all__ = [
    "ClassificationValuer",
    "DensityValuer",
    "DshapError",
    "DshapWarning",
    "FileError",
    "Groups",
    "InputError",
    "InputTypeError",
    "NotFittedError",
    "Owners",
    "Payout",
    "RegressionValuer",
    "Values",
    "__version__",
    "baselines",
    "datasets",
    "evaluate",
    "formula",
    "owners",
    "payout",
    "verify",
]
