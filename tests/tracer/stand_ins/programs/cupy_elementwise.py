import cupy as cp
import numpy as np

squared_diff = cp.ElementwiseKernel(
    'float32 x, float32 y',
    'float32 z',
    'z = (x - y) * (x - y)',
    'squared_diff')
x = cp.arange(10, dtype=np.float32).reshape(2, 5)
y = cp.arange(5, dtype=np.float32)
assert (squared_diff(x, y) == (x - y) ** 2).all()
assert (squared_diff(x, 5) == (x - 5) ** 2).all()
z = cp.empty((2, 5), dtype=np.float32)
squared_diff(x, y, z)
assert (z == (x - y) ** 2).all()

generic = cp.ElementwiseKernel(
    'T x, T y',
    'T z',
    '''
    T difference = x - y;
    z = difference * difference;
    ''',
    'generic')
assert generic(cp.arange(4), cp.ones(4, dtype=np.int64)).dtype == np.int64

add_reverse = cp.ElementwiseKernel(
    'T x, raw T y', 'T z',
    'z = x + y[_ind.size() - i - 1]',
    'add_reverse')
a = cp.arange(32, dtype=cp.float64)
assert (add_reverse(a, a, block_size=32) == 31).all()
print("passed")
