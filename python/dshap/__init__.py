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
`Explanation`           why a row is worth what it is worth, from `Values.explain_row`
`from_pipeline`         values rows for a fitted scikit-learn model, tree ensembles included
`suspects`, `clean`     rows whose targets look wrong, and whether dropping them helps
`find_label_issues`     wrong labels in the form that users of cleanlab know
`owners`, `payout`      what owners of rows are worth, and what they are paid; `verify` checks receipts
`report`                values or owners as one page of HTML; also `to_html()` of both
`dshap.baselines`       values by fitting models to sets of rows, for comparison
`dshap.evaluate`        how good values are, whoever made them
`dshap.formula`         the closed forms for given numbers
`dshap.datasets`        data of the paper, generated when asked for
`DshapError`            base of all errors; `InputError` is also a `ValueError`
======================  =====================================================
"""

from dshap import baselines, datasets, evaluate, formula
from dshap._classification import ClassificationValuer
from dshap._cleaning import Cleaning, Suspects, clean, suspects
from dshap._density import DensityValuer
from dshap._dshap import __version__
from dshap._errors import DshapError, DshapWarning, FileError, InputError, InputTypeError, NotFittedError
from dshap._explanation import Explanation
from dshap._groups import Groups
from dshap._label_issues import find_label_issues
from dshap._owners import Owners, Payout, owners, payout, verify
from dshap._pipeline import PipelineValuer, from_pipeline
from dshap._regression import RegressionValuer
from dshap._report import report
from dshap._values import Values

__all__ = [
    "ClassificationValuer",
    "Cleaning",
    "DensityValuer",
    "DshapError",
    "DshapWarning",
    "Explanation",
    "FileError",
    "Groups",
    "InputError",
    "InputTypeError",
    "NotFittedError",
    "Owners",
    "Payout",
    "PipelineValuer",
    "RegressionValuer",
    "Suspects",
    "Values",
    "__version__",
    "baselines",
    "clean",
    "datasets",
    "evaluate",
    "find_label_issues",
    "formula",
    "from_pipeline",
    "owners",
    "payout",
    "report",
    "suspects",
    "verify",
]
