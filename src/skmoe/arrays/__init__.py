"""Arrays and their libraries: Array API namespaces, blocks of rows, Dask, threads; and checks of arrays.

Every stage of a fit is a kernel that returns sums over rows (`blocks.sum_over_blocks`), so that one kernel serves a
NumPy array, a GPU tensor, a file larger than memory and a Dask cluster.
"""
