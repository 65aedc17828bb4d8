// Host code of load_inline kernels on tensors, with a main program in place of Python.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <torch/extension.h>
#include <cstdio>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

inline unsigned int cdiv(unsigned int a, unsigned int b) { return (a + b - 1) / b; }

__global__ void matmul_k(float* m, float* n, float* out, int h, int w, int k) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= h || c >= w) return;
  float o = 0;
  for (int i = 0; i < k; i++) o += m[r * k + i] * n[i * w + c];
  out[r * w + c] = o;
}
torch::Tensor matmul(torch::Tensor m, torch::Tensor n) {
  CHECK_INPUT(m);
  CHECK_INPUT(n);
  int h = m.size(0), w = n.size(1), k = m.size(1);
  TORCH_CHECK(k == n.size(0), "Size mismatch!");
  auto output = torch::zeros({h, w}, m.options());
  dim3 tpb(16, 16);
  dim3 blocks(cdiv(w, tpb.x), cdiv(h, tpb.y));
  matmul_k<<<blocks, tpb, 0, at::cuda::getCurrentCUDAStream()>>>(m.data_ptr<float>(), n.data_ptr<float>(), output.data_ptr<float>(), h, w, k);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return output;
}

template <typename scalar_t>
__global__ void scale(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> in, torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> out) {
  int row = blockIdx.x, column = threadIdx.x;
  if (column < in.size(1)) out[row][column] = in[row][column] * 3;
}
torch::Tensor scaled(torch::Tensor in) {
  auto out = torch::empty_like(in);
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "scaled", ([&] {
    scale<scalar_t><<<in.size(0), 32>>>(in.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), out.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
  }));
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("matmul", &matmul, "Matrix product");
  m.def("scaled", &scaled, py::arg("in"));
}

int main() {
  auto options = torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA);
  auto a = torch::arange(20 * 6, options).view({20, 6}), b = torch::ones({6, 18}, options);
  auto product = matmul(a, b).cpu();
  printf("%g %g %g\n", product[0][0].item<float>(), product[19][17].item<float>(), product.accessor<float, 2>()[3][4]);
  auto three = scaled(torch::full({2, 5}, 1.5, torch::dtype(torch::kDouble).device(torch::kCUDA)));
  printf("%g %ld\n", three[1][4].item<double>(), (long)three.numel());
  try {
    matmul(a, a);
  } catch (const c10::Error& error) {
    printf("%s\n", error.what());
  }
  try {
    a.data_ptr<int>();
  } catch (const c10::Error& error) {
    printf("%s\n", error.what());
  }
}
