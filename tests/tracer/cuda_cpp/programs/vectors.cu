// Thrust: vectors of host and device, algorithms, iterators, and a kernel on a device vector.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <iostream>
#include <iterator>
#include <vector>

struct saxpy {
  float a;
  __host__ __device__ float operator()(const float& x, const float& y) const { return a * x + y; }
};
struct is_even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct distance_to {
  float x;
  __host__ __device__ float operator()(const thrust::tuple<float, float>& p) const { return thrust::get<0>(p) * thrust::get<1>(p) - x; }
};
__global__ void twice(int* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= 2;
}
template <class V> void show(const char* name, const V& values) {
  std::cout << name;
  for (size_t i = 0; i < values.size(); i++) std::cout << " " << values[i];
  std::cout << "\n";
}

int main() {
  thrust::host_vector<int> h(8);
  for (int i = 0; i < 8; i++) h[i] = i * 37 % 11;
  thrust::device_vector<int> d = h;
  show("in", h);
  thrust::sort(d.begin(), d.end());
  show("sorted", d);
  thrust::sort(thrust::device, d.begin(), d.end(), thrust::greater<int>());
  h = d;
  show("descending", h);
  twice<<<1, 32>>>(thrust::raw_pointer_cast(d.data()), d.size());
  std::cout << "sum " << thrust::reduce(d.begin(), d.end(), 0, thrust::plus<int>()) << " most " << *thrust::max_element(d.begin(), d.end()) << " at "
            << thrust::min_element(d.begin(), d.end()) - d.begin() << "\n";
  thrust::device_vector<float> x(4), y(4, 1.0f);
  thrust::sequence(x.begin(), x.end(), 1.0f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy{2});
  show("saxpy", y);
  using namespace thrust::placeholders;
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), 3 * _1 - _2);
  show("placeholders", y);
  std::cout << "norm " << thrust::transform_reduce(x.begin(), x.end(), thrust::square<float>(), 0.0f, thrust::plus<float>()) << " dot "
            << thrust::inner_product(x.begin(), x.end(), y.begin(), 0.0f) << "\n";
  thrust::device_vector<int> keys = std::vector<int>{3, 1, 2, 1, 3}, values(5), sums(5);
  thrust::sequence(values.begin(), values.end());
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  show("keys", keys);
  show("values", values);
  auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), keys.begin(), sums.begin());
  std::cout << "groups " << ends.first - keys.begin() << ": " << sums[0] << " " << sums[1] << " " << sums[2] << "\n";
  thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
  show("inclusive", sums);
  thrust::exclusive_scan(values.begin(), values.end(), sums.begin(), 10);
  show("exclusive", sums);
  thrust::device_vector<int> even(10);
  even.erase(thrust::copy_if(thrust::make_counting_iterator(0), thrust::make_counting_iterator(10), even.begin(), is_even()), even.end());
  show("even", even);
  std::cout << "count " << thrust::count_if(thrust::host, h.begin(), h.end(), is_even()) << "\n";
  auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
  thrust::device_vector<float> out(4);
  thrust::transform(pairs, pairs + 4, out.begin(), distance_to{1});
  show("zipped", out);
  auto squares = thrust::make_transform_iterator(thrust::counting_iterator<int>(1), [] __host__ __device__(int i) { return i * i; });
  std::cout << "squares " << thrust::reduce(squares, squares + 5) << " constant " << thrust::reduce(thrust::make_constant_iterator(3), thrust::make_constant_iterator(3) + 4) << "\n";
  int* raw;
  cudaMalloc(&raw, 5 * sizeof(int));
  thrust::device_ptr<int> p(raw);
  thrust::fill(p, p + 5, 7);
  p[2] = 9;
  twice<<<1, 32>>>(raw, 5);
  thrust::copy(p, p + 5, std::ostream_iterator<int>(std::cout, ","));
  cudaFree(raw);
  thrust::device_vector<int> repeated = std::vector<int>{1, 1, 2, 2, 2, 5};
  repeated.resize(thrust::unique(repeated.begin(), repeated.end()) - repeated.begin());
  show(" unique", repeated);
  thrust::for_each(repeated.begin(), repeated.end(), [] __device__(int& v) { v += 1; });
  show("each", repeated);
  std::cout << "bound " << thrust::lower_bound(repeated.begin(), repeated.end(), 3) - repeated.begin() << "\n";
  thrust::default_random_engine engine(42);
  thrust::uniform_int_distribution<int> die(1, 6);
  int rolls = 0;
  for (int i = 0; i < 100; i++) rolls += die(engine) >= 1 && die(engine) <= 6;
  std::cout << "rolls " << rolls << "\n";
}
