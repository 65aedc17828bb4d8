import numpy as np
import pycuda.autoinit
from pycuda import driver, gpuarray
from pycuda.compiler import SourceModule

WIDTH = 8
template = """
__global__ void multiply(float *a, float *b, float *c)
{
    int tx = threadIdx.x, ty = threadIdx.y;
    __shared__ float rows[%(WIDTH)s][%(WIDTH)s];
    rows[ty][tx] = a[ty * %(WIDTH)s + tx];
    float sum = 0;
    for (int k = 0; k < %(WIDTH)s; ++k)
        sum += rows[ty][k] * b[k * %(WIDTH)s + tx];
    c[ty * %(WIDTH)s + tx] = sum;
}
"""
a = np.random.rand(WIDTH, WIDTH).astype(np.float32)
b = np.random.rand(WIDTH, WIDTH).astype(np.float32)
a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
c_gpu = gpuarray.empty((WIDTH, WIDTH), np.float32)
multiply = SourceModule(template % {"WIDTH": WIDTH}).get_function("multiply")
multiply.prepare("PPP")
multiply.prepared_call((1, 1), (WIDTH, WIDTH, 1), a_gpu.gpudata, b_gpu.gpudata, c_gpu.gpudata)
driver.Context.synchronize()
assert np.allclose(c_gpu.get(), a @ b, atol=1e-5)
print("passed")
