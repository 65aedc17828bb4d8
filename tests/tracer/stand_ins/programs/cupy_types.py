import cupy as cp
import numpy as np

axpy = cp.RawKernel(r'''
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
''', 'axpy')
x = cp.ones(64, dtype=cp.float32)
y = cp.zeros(64, dtype=cp.float32)
axpy((2,), (32,), (2.0, x, y, 64))
assert not y.any(), "the low half of the double 2.0 is 0"
axpy((2,), (32,), (np.float32(2), x, y, 64))
assert (y == 2).all()
print("passed")
