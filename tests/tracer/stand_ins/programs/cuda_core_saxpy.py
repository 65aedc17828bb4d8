import cupy as cp
from cuda.core.experimental import Device, LaunchConfig, Program, ProgramOptions, launch

code = """
template<typename T>
__global__ void saxpy(const T a, const T* x, const T* y, T* out, size_t N) {
    const unsigned int tid = threadIdx.x + blockIdx.x * blockDim.x;
    for (size_t i=tid; i<N; i+=gridDim.x*blockDim.x) {
        out[tid] = a * x[tid] + y[tid];
    }
}
"""
dev = Device()
dev.set_current()
s = dev.create_stream()
arch = "".join(f"{i}" for i in dev.compute_capability)
prog = Program(code, code_type="c++", options=ProgramOptions(std="c++11", arch=f"sm_{arch}"))
mod = prog.compile("cubin", name_expressions=("saxpy<float>", "saxpy<double>"))
ker = mod.get_kernel("saxpy<float>")
size = cp.uint64(256)
a = cp.float32(10)
rng = cp.random.default_rng()
x = rng.random(256, dtype=cp.float32)
y = rng.random(256, dtype=cp.float32)
out = cp.empty_like(x)
dev.sync()
launch(s, LaunchConfig(grid=4, block=64), ker, a, x.data.ptr, y.data.ptr, out.data.ptr, size)
s.sync()
assert cp.allclose(out, a * x + y)
print("passed")
