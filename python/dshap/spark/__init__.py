"""Values of rows that lie on a cluster: Apache Spark 4, or Sail with the same code.

>>> from dshap.spark import RegressionValuer                      # doctest: +SKIP
>>> valuer = RegressionValuer(features_col=["age", "size"], label_col="price")
>>> model = valuer.fit(reference)                                 # a job per pass
>>> model.transform(rows).write.parquet("values")                 # appends `value`
>>> model.save("price.dshap")                                     # the file of `dshap fit`

============================  =================================================
`RegressionValuer`            estimators of `pyspark.ml`, for pipelines
`ClassificationValuer`
`DensityValuer`
`KnnValuer`
`ValuerModel`                 what `fit` returns: `transform`, `save`
`fit`, `value`, `owners`      the same as plain functions
============================  =================================================

Rows never come to the driver, except those that a method keeps: nearest neighbours all of
the reference, densities a sample. Executors need this package too.
"""

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise ImportError("dshap.spark needs PySpark 4: pip install 'dshap[spark]'") from error

from dshap.spark._estimators import ClassificationValuer, DensityValuer, KnnValuer, RegressionValuer, ValuerModel
from dshap.spark._functions import fit, owners, value

__all__ = [
    "ClassificationValuer",
    "DensityValuer",
    "KnnValuer",
    "RegressionValuer",
    "ValuerModel",
    "fit",
    "owners",
    "value",
]
