import torch
from torch.utils.cpp_extension import load_inline

# The wrappers are in cpp_sources and declare the launchers of cuda_sources. The kernel lacks a barrier.
extension = load_inline(
    "reverse",
    cpp_sources=r"""
void reverse_cuda(float* a, int n);
std::vector<torch::Tensor> scaled_cuda(const torch::Tensor& a, double factor, bool both);

void reverse_(torch::Tensor a) { reverse_cuda(a.data_ptr<float>(), a.numel()); }
torch::Tensor row(torch::Tensor a, int64_t i) { return a[i]; }
std::vector<torch::Tensor> scaled(torch::Tensor a, double factor, bool both) { return scaled_cuda(a, factor, both); }
int64_t count(torch::Tensor a) { return a.numel(); }
""",
    cuda_sources=r"""
__global__ void reverse_kernel(float* a, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[n - 1 - threadIdx.x];
}
template <typename T> __global__ void scale_kernel(const T* a, T* out, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * a[i];
}
void reverse_cuda(float* a, int n) { reverse_kernel<<<1, n>>>(a, n); }
std::vector<torch::Tensor> scaled_cuda(const torch::Tensor& a, double factor, bool both) {
    auto out = torch::empty_like(a);
    AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "scaled", [&] {
        scale_kernel<scalar_t><<<1, 64>>>(a.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), factor, a.numel());
    });
    if (both) return {out, a};
    return {out};
}
""",
    functions=["reverse_", "row", "scaled", "count"],
)
a = torch.arange(64, device="cuda").float()
extension.reverse_(a)
assert a.shape == torch.Size([64]) and extension.count(a) == 64
out, same = extension.scaled(a, 2.0, True)
same[0] = 7.0  # the function returned its argument
assert a[0].item() == 7 and out.cpu().numpy()[1] == 2 * a[1].item()
matrix = a.view(8, 8)
extension.row(matrix, 2).fill_(5)
assert matrix[2].tolist() == [5.0] * 8 == a[16:24].tolist()
(doubles,) = extension.scaled(torch.ones(4, 4, dtype=torch.float64, device="cuda"), 3, False)
assert doubles.dtype is torch.float64 and doubles.sum() == 48
assert str(torch.zeros(2, device="cuda")) == "tensor([0., 0.], device='cuda:0')"
assert (torch.arange(3) / 2).dtype == torch.float32 and torch.zeros_like(a).is_cuda
maximum, position = torch.tensor([[1, 5, 2]]).max(1)
assert maximum.item() == 5 and position.item() == 1
print("passed")
