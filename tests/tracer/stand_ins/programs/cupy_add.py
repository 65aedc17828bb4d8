import cupy as cp
import numpy as np

add_kernel = cp.RawKernel(r'''
extern "C" __global__
void my_add(const float* x1, const float* x2, float* y) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    y[tid] = x1[tid] + x2[tid];
}
''', 'my_add')
x1 = cp.arange(64, dtype=cp.float32).reshape(8, 8)
x2 = cp.arange(64, dtype=cp.float32).reshape(8, 8)
y = cp.zeros((8, 8), dtype=cp.float32)
add_kernel((2,), (32,), (x1, x2, y))  # grid, block and arguments
cp.cuda.Device().synchronize()
assert (y.get() == 2 * np.arange(64).reshape(8, 8)).all()
assert bool((y == x1 + x2).all()) and float(y.sum()) == 4032
print("passed")
