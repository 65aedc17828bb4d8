// thrust as courses use it.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_malloc.h>
#include <thrust/device_free.h>
#include <thrust/logical.h>
#include <thrust/find.h>
#include <thrust/equal.h>
#include <thrust/for_each.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
#include <thrust/zip_function.h>
#include <iostream>
#include <cstdio>
#include <cmath>
struct square { __host__ __device__ float operator()(float x) const { return x * x; } };
struct is_even { __host__ __device__ bool operator()(int x) const { return x % 2 == 0; } };
struct saxpy { float a; saxpy(float a) : a(a) {} __host__ __device__ float operator()(const float &x, const float &y) const { return a * x + y; } };
struct arbitrary { template <typename Tuple> __host__ __device__ void operator()(Tuple t) { thrust::get<3>(t) = thrust::get<0>(t) + thrust::get<1>(t) * thrust::get<2>(t); } };
struct stats { int n; float mean, m2, lo, hi; };
struct to_stats { __host__ __device__ stats operator()(float x) const { return {1, x, 0, x, x}; } };
struct merge_stats {
  __host__ __device__ stats operator()(const stats &a, const stats &b) const {
    int n = a.n + b.n;
    float d = b.mean - a.mean;
    return {n, a.mean + d * b.n / n, a.m2 + b.m2 + d * d * a.n * b.n / n, thrust::min(a.lo, b.lo), thrust::max(a.hi, b.hi)};
  }
};
struct point { int x, y; };
struct by_x { __host__ __device__ bool operator()(const point &a, const point &b) const { return a.x < b.x || (a.x == b.x && a.y > b.y); } };
template <class V> void print(const char *name, const V &v) {
  std::cout << name;
  for (size_t i = 0; i < v.size(); i++) std::cout << ' ' << v[i];
  std::cout << '\n';
}
struct strided { int s; __host__ __device__ int operator()(int i) const { return i * s; } };
struct random_number {
  __host__ __device__ float operator()(int n) const {
    thrust::default_random_engine rng(17);
    thrust::uniform_real_distribution<float> u(0, 1);
    rng.discard(n);
    return u(rng);
  }
};
__global__ void raw(int *p, int n) { int i = threadIdx.x; if (i < n) p[i] += 1; }
int main() {
  thrust::host_vector<int> h(10);
  thrust::sequence(h.begin(), h.end(), 3, 4);
  thrust::device_vector<int> d = h;
  d[2] = 99, d.push_back(4), d.resize(12, 8), d.insert(d.begin(), 5);
  print("vector", d);
  thrust::sort(d.begin(), d.end(), thrust::greater<int>());
  print("sorted", d);
  std::cout << thrust::reduce(d.begin(), d.end()) << ' ' << thrust::reduce(d.begin(), d.end(), 0, thrust::maximum<int>()) << ' ' << thrust::count(d.begin(), d.end(), 8) << ' ' << thrust::count_if(thrust::device, d.begin(), d.end(), is_even()) << '\n';
  thrust::device_vector<float> x(8), y(8), z(8), w(8);
  thrust::sequence(x.begin(), x.end());
  thrust::fill(y.begin(), y.end(), 0.5f);
  std::cout << std::sqrt(thrust::transform_reduce(x.begin(), x.end(), square(), 0.0f, thrust::plus<float>())) << ' ' << thrust::inner_product(x.begin(), x.end(), y.begin(), 1.0f) << '\n';
  thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), saxpy(2));
  print("saxpy", z);
  thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), thrust::multiplies<float>());
  thrust::transform(z.begin(), z.end(), z.begin(), thrust::negate<float>());
  print("negated", z);
  thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin(), z.begin(), w.begin())), thrust::make_zip_iterator(thrust::make_tuple(x.end(), y.end(), z.end(), w.end())), arbitrary());
  print("zip", w);
  int keys[] = {1, 1, 2, 2, 2, 5, 1}, values[] = {9, 8, 7, 6, 5, 4, 3};
  thrust::device_vector<int> k(keys, keys + 7), v(values, values + 7), ko(7), vo(7);
  auto end = thrust::reduce_by_key(k.begin(), k.end(), v.begin(), ko.begin(), vo.begin());
  ko.resize(end.first - ko.begin()), vo.resize(end.second - vo.begin());
  print("keys", ko), print("sums", vo);
  thrust::stable_sort_by_key(k.begin(), k.end(), v.begin());
  print("by key", v);
  thrust::device_vector<int> s(7);
  thrust::inclusive_scan(v.begin(), v.end(), s.begin());
  print("inclusive", s);
  thrust::exclusive_scan(v.begin(), v.end(), s.begin(), 100, thrust::plus<int>());
  print("exclusive", s);
  thrust::inclusive_scan_by_key(k.begin(), k.end(), v.begin(), s.begin());
  print("scan by key", s);
  thrust::exclusive_scan_by_key(k.begin(), k.end(), v.begin(), s.begin());
  print("exclusive by key", s);
  thrust::transform_inclusive_scan(v.begin(), v.end(), s.begin(), square(), thrust::plus<int>());
  print("transform scan", s);
  auto last = thrust::unique(k.begin(), k.end());
  k.erase(last, k.end());
  print("unique", k);
  thrust::device_vector<int> kept(7);
  auto stop = thrust::copy_if(v.begin(), v.end(), kept.begin(), is_even());
  std::cout << stop - kept.begin() << ' ' << kept[0] << '\n';
  auto gone = thrust::remove_if(v.begin(), v.end(), is_even());
  std::cout << gone - v.begin() << ' ' << v[1] << '\n';
  int map_[] = {3, 0, 2, 1};
  thrust::device_vector<int> map(map_, map_ + 4), source(4), target(4, -1);
  thrust::sequence(source.begin(), source.end(), 10);
  thrust::gather(map.begin(), map.end(), source.begin(), target.begin());
  print("gather", target);
  thrust::scatter(source.begin(), source.end(), map.begin(), target.begin());
  print("scatter", target);
  thrust::copy(thrust::make_permutation_iterator(source.begin(), map.begin()), thrust::make_permutation_iterator(source.begin(), map.end()), target.begin());
  print("permutation", target);
  std::cout << thrust::reduce(thrust::make_counting_iterator(1), thrust::make_counting_iterator(11)) << ' ' << thrust::reduce(thrust::make_transform_iterator(thrust::counting_iterator<int>(0), strided{3}), thrust::make_transform_iterator(thrust::counting_iterator<int>(5), strided{3})) << '\n';
  thrust::device_vector<int> hist(3);
  int data_[] = {0, 0, 1, 2, 2, 2, 2};
  thrust::device_vector<int> data(data_, data_ + 7);
  thrust::counting_iterator<int> search_begin(0);
  thrust::upper_bound(data.begin(), data.end(), search_begin, search_begin + 3, hist.begin());
  thrust::adjacent_difference(hist.begin(), hist.end(), hist.begin());
  print("histogram", hist);
  auto top = thrust::max_element(x.begin(), x.end());
  auto both = thrust::minmax_element(w.begin(), w.end());
  std::cout << top - x.begin() << ' ' << *both.first << ' ' << *both.second << '\n';
  stats st = thrust::transform_reduce(x.begin(), x.end(), to_stats(), stats{1, 0, 0, 0, 0}, merge_stats());
  std::cout << st.n << ' ' << st.hi << '\n';
  thrust::device_vector<point> points(4);
  for (int i = 0; i < 4; i++) points[i] = point{i / 2, i};
  thrust::sort(points.begin(), points.end(), by_x());
  point first = points[0];
  std::cout << first.x << first.y << '\n';
  thrust::device_ptr<int> p = thrust::device_malloc<int>(5);
  thrust::fill_n(p, 5, 3);
  raw<<<1, 32>>>(thrust::raw_pointer_cast(p), 5);
  raw<<<1, 32>>>(thrust::raw_pointer_cast(&d[0]), 3);
  raw<<<1, 32>>>(d.data().get(), 1);
  std::cout << p[4] << ' ' << d[0] << ' ' << d.front() << ' ' << d.back() << '\n';
  thrust::device_free(p);
  int *q;
  cudaMalloc(&q, 40);
  thrust::device_ptr<int> wrapped(q), other = thrust::device_pointer_cast(q);
  thrust::tabulate(thrust::device, wrapped, wrapped + 10, strided{7});
  thrust::sort(thrust::device, q, q + 10, thrust::greater<int>());
  thrust::replace_if(other, other + 10, is_even(), -1);
  thrust::host_vector<int> back(wrapped, wrapped + 10);
  print("wrapped", back);
  cudaFree(q);
  thrust::device_vector<float> r(5);
  thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(5), r.begin(), random_number());
  std::printf("%.6f %.6f\n", (float)r[0], (float)r[4]);
  bool sorted = thrust::is_sorted(data.begin(), data.end());
  auto found = thrust::find(data.begin(), data.end(), 1);
  auto parted = thrust::partition(data.begin(), data.end(), is_even());
  std::cout << sorted << found - data.begin() << parted - data.begin() << thrust::all_of(data.begin(), data.end(), is_even()) << thrust::any_of(data.begin(), data.end(), is_even()) << thrust::equal(x.begin(), x.end(), x.begin()) << '\n';
  thrust::device_vector<int> a1(4), b1(4), u(8);
  thrust::sequence(a1.begin(), a1.end()), thrust::sequence(b1.begin(), b1.end(), 2);
  u.resize(thrust::set_union(a1.begin(), a1.end(), b1.begin(), b1.end(), u.begin()) - u.begin());
  print("union", u);
  thrust::copy(u.begin(), u.end(), std::ostream_iterator<int>(std::cout, ","));
  thrust::transform(thrust::make_zip_iterator(a1.begin(), b1.begin()), thrust::make_zip_iterator(a1.end(), b1.end()), a1.begin(), thrust::make_zip_function([] __host__ __device__(int a, int b) { return a * b; }));
  print(" product", a1);
}
