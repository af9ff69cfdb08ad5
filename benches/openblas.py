"""What NumPy and SciPy with OpenBLAS take for the matrix products that values must contain."""

import numpy as np
import scipy.linalg.blas as blas

from timing import best


def products(n, p):
    """Seconds OpenBLAS takes for syrk and for the triangular solve, blocked over rows."""
    x = np.asfortranarray(np.random.default_rng(1).random((n, p)) - 0.5)
    gram = x.T @ x
    lower = np.asfortranarray(np.linalg.cholesky(gram))

    def solve(block):
        for start in range(0, n, block):
            z = blas.dtrsm(1.0, lower, x[start : start + block].T, lower=1)
            np.einsum("ij,ij->j", z, z)

    syrk = min(best(lambda: x.T @ x), best(lambda: blas.dsyrk(1.0, x, trans=1, lower=1)))
    trsm = min(best(lambda: solve(block)) for block in (512, 2048, 8192))
    return syrk, trsm


def syrk_in_blocks(n, p, block):
    """Seconds OpenBLAS takes for syrk that adds block after block of rows to the same sums."""
    rng = np.random.default_rng(1)
    # Each block by itself: rows of one large array would be copied in every call.
    blocks = [np.asfortranarray(rng.random((min(block, n - start), p)) - 0.5) for start in range(0, n, block)]

    def all_blocks():
        gram = np.zeros((p, p), order="F")
        for rows in blocks:
            gram = blas.dsyrk(1.0, rows, beta=1.0, c=gram, trans=1, lower=1, overwrite_c=1)

    return best(all_blocks)


def weighted_syrk(n, p):
    """Seconds NumPy takes for XᵀWX with the weights given: rows scaled by √W, then OpenBLAS, blocked over rows so that
    the scaled copy stays in cache."""
    x = np.asfortranarray(np.random.default_rng(1).random((n, p)) - 0.5)
    root = np.sqrt(np.random.default_rng(2).random(n))

    def one_pass(block):
        gram = np.zeros((p, p), order="F")
        for start in range(0, n, block):
            rows = x[start : start + block]
            weighted = rows * root[start : start + block, None]
            gram = blas.dsyrk(1.0, weighted, beta=1.0, c=gram, trans=1, lower=1, overwrite_c=1)
        return gram

    return min(best(lambda: one_pass(block)) for block in (1024, 4096, 16384, 65536))
