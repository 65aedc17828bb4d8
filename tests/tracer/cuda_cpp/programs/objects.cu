// Objects as arguments whose copies and ends have side effects: threads get the bytes of the host's copy.
#include <cstdio>
#include <cstring>

struct Managed {
  int* data;
  int count;
  bool is_own = true;
  explicit Managed(int n) : count(n) { cudaMallocManaged(&data, n * sizeof(int)); memset(data, 0, n * sizeof(int)); }
  Managed(const Managed& other) : data(other.data), count(other.count), is_own(false) {}
  ~Managed() { if (is_own) cudaFree(data); }
  __device__ int& operator[](int i) { return data[i]; }
};
template <class T> struct View {
  T* data;
  View(T* data_) : data(data_) {}
  View(const View& other) : data(other.data) {}
};

__global__ void plain(Managed values, int added) {
  values.count++;
  values[threadIdx.x] += values.count + added;
}
template <class T> __global__ void named(View<T> view, T added) { view.data[threadIdx.x] += added; }

int main() {
  Managed values(32);
  plain<<<1, 32>>>(values, 1);
  cudaDeviceSynchronize();
  printf("%d %d\n", values.data[0], values.data[31]);
  View<int> view(values.data);
  named<int><<<1, 32>>>(view, 10);
  named<<<1, 32>>>(view, 100);
  cudaDeviceSynchronize();
  printf("%d %d\n", values.data[0], values.data[31]);
  int added = 1000;
  void* arguments[] = {&values, &added};
  cudaLaunchKernel((void*)plain, dim3(1), dim3(32), arguments, 0, nullptr);
  cudaDeviceSynchronize();
  printf("%d %d\n", values.data[0], values.data[31]);
}
