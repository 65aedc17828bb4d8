// C++17 and C++20 in kernels: constexpr if, fold expressions, structured bindings, lambdas, concepts, partial specialisation.
#include <array>
#include <concepts>
#include <cstdio>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/limits>
template <typename T> concept Number = std::is_arithmetic_v<T>;
template <typename T, int N> struct Vec {
  T v[N];
  __host__ __device__ constexpr T &operator[](int i) { return v[i]; }
  __host__ __device__ constexpr const T &operator[](int i) const { return v[i]; }
  __host__ __device__ friend constexpr Vec operator+(const Vec &a, const Vec &b) {
    Vec r{};
    for (int i = 0; i < N; i++) r[i] = a[i] + b[i];
    return r;
  }
  __host__ __device__ auto operator<=>(const Vec &) const = default;
  __host__ __device__ Vec &operator+=(const Vec &o) { return *this = *this + o; }
};
template <typename T> struct Traits { static constexpr int kind = 0; };
template <typename T> struct Traits<T *> { static constexpr int kind = 1 + Traits<T>::kind; };
template <typename T, int N> struct Traits<Vec<T, N>> { static constexpr int kind = 10 * N; };
template <> struct Traits<double> { static constexpr int kind = 100; };
template <Number... T> __device__ auto sum(T... t) { return (t + ... + 0); }
template <typename F, typename... A> __global__ void apply(F f, A... a) { f(threadIdx.x, a...); }
template <auto Op> __global__ void with_op(int *x) { x[threadIdx.x] = Op(x[threadIdx.x]); }
__host__ __device__ constexpr int twice(int x) { return 2 * x; }
enum class Mode : int { add, multiply };
template <Mode M, Number T> __device__ T combine(T a, T b) {
  if constexpr (M == Mode::add) return a + b;
  else return a * b;
}
template <typename T> __global__ void kinds(int *out) {
  out[0] = Traits<T>::kind + Traits<T *>::kind + Traits<Vec<T, 3>>::kind;
  auto [a, b] = std::pair<int, float>{3, 1.5f};
  out[1] = a + (int)(2 * b);
  out[2] = sum(1, 2, 3u, 4l);
  out[3] = combine<Mode::add>(3, 4) + combine<Mode::multiply>(3.0, 4.0);
  cuda::std::array<int, 3> arr{1, 2, 3};
  for (auto v : arr) out[4] += v;
  auto t = cuda::std::make_tuple(1, 2.5);
  out[5] = cuda::std::get<0>(t) + (int)(cuda::std::get<1>(t) * 2);
  out[6] = cuda::std::numeric_limits<short>::max() + cuda::std::is_same_v<T, double>;
  Vec<int, 2> p{{1, 2}}, q{{1, 3}};
  out[7] = p == q;
  p += q;
  out[8] = p[1];
  auto generic = [](auto x, auto y) { return x * y; };
  out[9] = generic(3, 4) + [=]<typename U>(U u) { return u + a; }(5);
  if (int k = out[9]; k > 10) out[10] = k;
}
struct Base { int id; __host__ __device__ Base(int i) : id(i) {} __device__ virtual int area() const { return id; } __device__ virtual ~Base() {} };
struct Square : Base { int side; __device__ Square(int s) : Base(1), side(s) {} __device__ int area() const override { return side * side; } };
struct Circle final : public Base { __device__ Circle() : Base(2) {} __device__ int area() const override { return 3 * id; } };
__global__ void shapes(int *out) {
  Square s(4 + threadIdx.x);
  Circle c;
  Base *all[] = {&s, &c};
  int total = 0;
  for (auto *b : all) total += b->area();
  out[threadIdx.x] = total;
}
int main() {
  int *out;
  cudaMallocManaged(&out, 64 * sizeof(int));
  cudaMemset(out, 0, 256);
  kinds<double><<<1, 1>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 11; i++) printf("%d ", out[i]);
  int scale = 3;
  apply<<<1, 8>>>([=] __device__(int i, int *o, int add) { o[i] = scale * i + add; }, out, 100);
  with_op<twice><<<1, 8>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; i++) printf("%d ", out[i]);
  shapes<<<1, 4>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; i++) printf("%d ", out[i]);
  std::array<int, 4> host{1, 2, 3, 4};
  std::span<int> view(host);
  printf("%zu %d\n", view.size(), view.back());
  cudaFree(out);
}
