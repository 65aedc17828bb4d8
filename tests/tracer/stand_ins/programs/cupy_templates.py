import cupy as cp

code = r'''
namespace lesson {
template<typename T, int factor>
__global__ void scale(const T* from, T* to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] * factor + OFFSET;
}
}
'''
names = ['lesson::scale<float, 3>', 'lesson::scale<double, 2>']
module = cp.RawModule(code=code, options=('-std=c++17', '-DOFFSET=1'), name_expressions=names)
for name, kind, factor in zip(names, (cp.float32, cp.float64), (3, 2)):
    x = cp.linspace(0, 1, 100, dtype=kind)
    y = cp.empty_like(x)
    module.get_function(name)((4,), (32,), (x, y, x.size))
    cp.testing.assert_allclose(y, x * factor + 1, rtol=1e-6)
print("passed")
