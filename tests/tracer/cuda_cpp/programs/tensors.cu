// The host code of a PyTorch extension, called from main in place of Python.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <torch/extension.h>
#include <cstdio>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)
inline unsigned int cdiv(unsigned int a, unsigned int b) { return (a + b - 1) / b; }

template <int tw> __global__ void matmul_k(float* m, float* n, float* out, int h, int w, int k) {
  int tc = threadIdx.x, tr = threadIdx.y, r = blockIdx.y * blockDim.y + tr, c = blockIdx.x * blockDim.x + tc;
  extern __shared__ float ms[];
  float* ns = &ms[tw * tw];
  float p = 0.0f;
  for (int ph = 0; ph < cdiv(k, tw); ++ph) {
    int idx = ph * tw;
    ms[tr * tw + tc] = r < h && idx + tc < k ? m[tc + idx + r * k] : 0.0f;
    ns[tr * tw + tc] = c < w && idx + tr < k ? n[(tr + idx) * w + c] : 0.0f;
    __syncthreads();
    for (int i = 0; i < tw; ++i) p += ms[tr * tw + i] * ns[tw * i + tc];
    __syncthreads();
  }
  if (r < h && c < w) out[r * w + c] = p;
}

torch::Tensor matmul(torch::Tensor m, torch::Tensor n) {
  CHECK_INPUT(m);
  CHECK_INPUT(n);
  int h = m.size(0), w = n.size(1), k = m.size(1);
  TORCH_CHECK(k == n.size(0), "Size mismatch!");
  auto output = torch::zeros({h, w}, m.options());
  int TW = 8;
  dim3 tpb(TW, TW), blocks(cdiv(w, tpb.x), cdiv(h, tpb.y));
  size_t size = TW * TW * 2 * sizeof(float);
  auto f = [&](auto kf) { kf<<<blocks, tpb, size, at::cuda::getCurrentCUDAStream()>>>(m.data_ptr<float>(), n.data_ptr<float>(), output.data_ptr<float>(), h, w, k); };
  switch (TW) {
    case 8: f(matmul_k<8>); break;
    case 16: f(matmul_k<16>); break;
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return output;
}

template <typename scalar_t>
__global__ void row_sums(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> in, torch::PackedTensorAccessor32<scalar_t, 1, torch::RestrictPtrTraits> out) {
  int row = threadIdx.x;
  scalar_t sum = 0;
  for (int i = 0; i < in.size(1); i++) sum += in[row][i];
  out[row] = sum;
}

torch::Tensor sum_rows(const at::Tensor& in) {
  auto out = torch::empty({in.size(0)}, torch::TensorOptions().dtype(in.dtype()).device(in.device()));
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "sum_rows", ([&] {
    row_sums<scalar_t><<<1, in.size(0)>>>(in.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), out.packed_accessor32<scalar_t, 1, torch::RestrictPtrTraits>());
  }));
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("matmul", &matmul, "a product of matrices");
}

int main() {
  auto options = torch::TensorOptions().device(torch::kCUDA).dtype(torch::kFloat32);
  auto m = torch::arange(120).to(torch::kFloat).view({10, 12}).cuda();
  auto n = torch::ones({12, 9}, options);
  auto out = matmul(m, n).cpu();
  printf("product %g %g %lld\n", out.data_ptr<float>()[0], out.data_ptr<float>()[89], (long long)out.numel());
  auto squares = matmul(torch::arange(16, options).view({4, 4}), torch::arange(16, options).view({4, 4})).cpu();
  printf("squares %g %g\n", squares[0][0].item<float>(), squares[3][2].item<float>());
  auto sums = sum_rows(m.to(torch::kDouble).t()).cpu();
  printf("sums %g %g\n", sums.data_ptr<double>()[0], sums.accessor<double, 1>()[11]);
  for (int i = 0; i < 3; i++) {
    try {
      if (i == 0) matmul(m, m);
      if (i == 1) matmul(m.cpu(), n);
      if (i == 2) sum_rows(m.to(torch::kInt));
    } catch (const std::exception& error) {
      printf("%s\n", error.what());
    }
  }
}
