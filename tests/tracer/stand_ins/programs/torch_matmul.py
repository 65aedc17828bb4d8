import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
__global__ void matmul_kernel(const float* m, const float* n, float* out, int h, int w, int k) {
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= h || c >= w) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += m[r * k + i] * n[i * w + c];
    out[r * w + c] = sum;
}

torch::Tensor matmul(torch::Tensor m, torch::Tensor n) {
    TORCH_CHECK(m.device().is_cuda(), "m must be a CUDA tensor");
    TORCH_CHECK(m.size(1) == n.size(0), "Size mismatch!");
    int h = m.size(0), w = n.size(1), k = m.size(1);
    auto out = torch::zeros({h, w}, m.options());
    dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
    matmul_kernel<<<grid, block>>>(m.data_ptr<float>(), n.data_ptr<float>(), out.data_ptr<float>(), h, w, k);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}
"""
module = load_inline(
    name="matmul",
    cpp_sources="torch::Tensor matmul(torch::Tensor m, torch::Tensor n);",
    cuda_sources=cuda_source,
    functions=["matmul"],
    extra_cuda_cflags=["-O2"],
    verbose=True,
)
torch.manual_seed(42)
m, n = torch.rand(20, 36, device="cuda"), torch.rand(36, 44).cuda()
out = module.matmul(m, n)
assert out.is_cuda and out.shape == (20, 44) and out.dtype == torch.float32
assert torch.isclose(out, m @ n).all()
assert torch.allclose(out.cpu(), torch.matmul(m, n).cpu(), atol=1e-4)
for wrong in (lambda: module.matmul(m.cpu(), n), lambda: module.matmul(m, m), lambda: module.matmul(m, 3)):
    try:
        wrong()
    except (RuntimeError, TypeError) as error:
        print(f"{type(error).__name__}: {error}")
    else:
        raise AssertionError
print("passed")
