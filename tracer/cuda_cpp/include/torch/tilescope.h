// As much of PyTorch's C++ interface as the host code of `load_inline` kernels uses: tensors with their memory, without
// operators. Tensors of the device lie in its memory.
#pragma once
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"

namespace c10 {
enum class ScalarType : signed char { Byte, Char, Short, Int, Long, Half, Float, Double, Bool = 11, BFloat16 = 15 };
enum class DeviceType : signed char { CPU, CUDA };
typedef ::half Half;
typedef ::nv_bfloat16 BFloat16;
using std::nullopt;
using std::optional;
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Device {
  DeviceType kind;
  int number;
  Device(DeviceType k = DeviceType::CPU, int n = 0) : kind(k), number(n) {}
  DeviceType type() const { return kind; }
  int index() const { return number; }
  bool is_cuda() const { return kind == DeviceType::CUDA; }
  bool is_cpu() const { return kind == DeviceType::CPU; }
  friend bool operator==(Device a, Device b) { return a.kind == b.kind && a.number == b.number; }
  friend bool operator!=(Device a, Device b) { return !(a == b); }
};
struct TensorOptions {
  ScalarType scalar = ScalarType::Float;
  Device place;
  TensorOptions() = default;
  TensorOptions(ScalarType type) : scalar(type) {}
  TensorOptions(Device device) : place(device) {}
  TensorOptions(DeviceType device) : place(device) {}
  TensorOptions dtype(ScalarType type) const { TensorOptions o = *this; o.scalar = type; return o; }
  TensorOptions device(Device device) const { TensorOptions o = *this; o.place = device; return o; }
  TensorOptions device(DeviceType device, int number = 0) const { TensorOptions o = *this; o.place = Device(device, number); return o; }
  TensorOptions requires_grad(bool) const { return *this; }
  ScalarType dtype() const { return scalar; }
  Device device() const { return place; }
};
struct IntArrayRef : std::vector<int64_t> {
  using std::vector<int64_t>::vector;
  IntArrayRef(const std::vector<int64_t>& values) : std::vector<int64_t>(values) {}
  std::vector<int64_t> vec() const { return *this; }
};
inline size_t tilescope_size(ScalarType type) {
  switch (type) {
    case ScalarType::Byte: case ScalarType::Char: case ScalarType::Bool: return 1;
    case ScalarType::Short: case ScalarType::Half: case ScalarType::BFloat16: return 2;
    case ScalarType::Int: case ScalarType::Float: return 4;
    default: return 8;
  }
}
inline const char* toString(ScalarType type) {
  switch (type) {
    case ScalarType::Byte: return "Byte";
    case ScalarType::Char: return "Char";
    case ScalarType::Short: return "Short";
    case ScalarType::Int: return "Int";
    case ScalarType::Long: return "Long";
    case ScalarType::Half: return "Half";
    case ScalarType::Float: return "Float";
    case ScalarType::Double: return "Double";
    case ScalarType::Bool: return "Bool";
    default: return "BFloat16";
  }
}
inline std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }
template <class T> struct CppTypeToScalarType;
#define TILESCOPE_SCALAR(T, name) template <> struct CppTypeToScalarType<T> { static constexpr ScalarType value = ScalarType::name; };
TILESCOPE_SCALAR(unsigned char, Byte) TILESCOPE_SCALAR(signed char, Char) TILESCOPE_SCALAR(short, Short) TILESCOPE_SCALAR(int, Int) TILESCOPE_SCALAR(long, Long)
TILESCOPE_SCALAR(long long, Long) TILESCOPE_SCALAR(::half, Half) TILESCOPE_SCALAR(float, Float) TILESCOPE_SCALAR(double, Double) TILESCOPE_SCALAR(bool, Bool)
TILESCOPE_SCALAR(::nv_bfloat16, BFloat16)
#undef TILESCOPE_SCALAR
template <class... A> [[noreturn]] void tilescope_fail(const char* file, int line, const A&... parts) {
  std::ostringstream text;
  (void)std::initializer_list<int>{0, ((void)(text << parts), 0)...};
  fprintf(stderr, "%s:%d: %s\n", file, line, text.str().c_str());
  throw Error(text.str());
}
namespace cuda {
struct CUDAStream {
  operator cudaStream_t() const { return nullptr; }
  cudaStream_t stream() const { return nullptr; }
};
inline CUDAStream getCurrentCUDAStream(int = 0) { return {}; }
inline int current_device() { return 0; }
struct CUDAGuard { template <class D> explicit CUDAGuard(const D&) {} };
struct OptionalCUDAGuard { OptionalCUDAGuard() {} template <class D> explicit OptionalCUDAGuard(const D&) {} };
}  // namespace cuda
}  // namespace c10

namespace at {
using namespace c10;
template <class T> struct RestrictPtrTraits { typedef T* PtrType; };
template <class T> struct DefaultPtrTraits { typedef T* PtrType; };
// A view that kernels index as tensor[i][j].
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t> struct TensorAccessor {
  T* data_;
  const Index *sizes_, *strides_;
  TILESCOPE_HELPER T* data() const { return data_; }
  TILESCOPE_HELPER Index size(int i) const { return sizes_[i]; }
  TILESCOPE_HELPER Index stride(int i) const { return strides_[i]; }
  TILESCOPE_HELPER decltype(auto) operator[](Index i) const {
    if constexpr (N == 1) return (data_[strides_[0] * i]);
    else return TensorAccessor<T, N - 1, Traits, Index>{data_ + strides_[0] * i, sizes_ + 1, strides_ + 1};
  }
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t> struct GenericPackedTensorAccessor {
  T* data_;
  Index sizes_[N], strides_[N];
  TILESCOPE_HELPER T* data() const { return data_; }
  TILESCOPE_HELPER Index size(int i) const { return sizes_[i]; }
  TILESCOPE_HELPER Index stride(int i) const { return strides_[i]; }
  TILESCOPE_HELPER decltype(auto) operator[](Index i) const { return TensorAccessor<T, N, Traits, Index>{data_, sizes_, strides_}[i]; }
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits> using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits> using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;

class Tensor {
 public:
  Tensor() = default;
  Tensor(IntArrayRef shape, TensorOptions options, void* memory = nullptr) : sizes_(shape), options_(options) {
    strides_.resize(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides_[i] = stride;
    size_t bytes = stride * element_size();
    if (memory) memory_ = std::shared_ptr<void>(memory, [](void*) {});
    else if (options.place.is_cuda()) memory_ = std::shared_ptr<void>(tilescope_allocate(bytes ? bytes : 1, 0), [](void* p) { tilescope_free(p); });
    else memory_ = std::shared_ptr<void>(malloc(bytes ? bytes : 1), free);
  }
  bool defined() const { return (bool)memory_; }
  int64_t dim() const { return sizes_.size(); }
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t i) const { return sizes_.at(i < 0 ? i + dim() : i); }
  const IntArrayRef& sizes() const { return sizes_; }
  int64_t stride(int64_t i) const { return strides_.at(i < 0 ? i + dim() : i); }
  const IntArrayRef& strides() const { return strides_; }
  int64_t numel() const { return std::accumulate(sizes_.begin(), sizes_.end(), (int64_t)1, std::multiplies<int64_t>()); }
  size_t element_size() const { return tilescope_size(options_.scalar); }
  int64_t itemsize() const { return element_size(); }
  size_t nbytes() const { return numel() * element_size(); }
  TensorOptions options() const { return options_; }
  ScalarType scalar_type() const { return options_.scalar; }
  ScalarType dtype() const { return options_.scalar; }
  ScalarType type() const { return options_.scalar; }
  Device device() const { return options_.place; }
  int get_device() const { return options_.place.number; }
  bool is_cuda() const { return options_.place.is_cuda(); }
  bool is_cpu() const { return options_.place.is_cpu(); }
  bool is_floating_point() const { return options_.scalar == ScalarType::Float || options_.scalar == ScalarType::Double || options_.scalar == ScalarType::Half || options_.scalar == ScalarType::BFloat16; }
  bool is_contiguous() const { return strides_ == Tensor::strides_of(sizes_); }
  bool requires_grad() const { return false; }
  void* data_ptr() const { return (char*)memory_.get() + offset_ * element_size(); }
  template <class T> T* data_ptr() const {
    if (CppTypeToScalarType<std::remove_const_t<T>>::value != options_.scalar) {
      throw Error(std::string("expected scalar type ") + toString(CppTypeToScalarType<std::remove_const_t<T>>::value) + " but found " + toString(options_.scalar));
    }
    return (T*)data_ptr();
  }
  template <class T> T* data() const { return data_ptr<T>(); }
  template <class T> T* mutable_data_ptr() const { return data_ptr<T>(); }
  template <class T> const T* const_data_ptr() const { return data_ptr<T>(); }
  template <class T> T item() const { return (T)read(0); }
  template <class T, size_t N> TensorAccessor<T, N> accessor() const { return {data_ptr<T>(), sizes_.data(), strides_.data()}; }
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits> PackedTensorAccessor32<T, N, Traits> packed_accessor32() const { return packed<PackedTensorAccessor32<T, N, Traits>, T, N>(); }
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits> PackedTensorAccessor64<T, N, Traits> packed_accessor64() const { return packed<PackedTensorAccessor64<T, N, Traits>, T, N>(); }
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class I = size_t> PackedTensorAccessor64<T, N, Traits> packed_accessor() const { return packed_accessor64<T, N, Traits>(); }
  Tensor view(IntArrayRef shape) const {
    int64_t known = 1;
    for (int64_t n : shape) known *= n < 0 ? 1 : n;
    for (int64_t& n : shape) if (n < 0) n = known ? numel() / known : 0;
    Tensor result = *this;
    result.sizes_ = shape, result.strides_ = strides_of(shape);
    if (result.numel() != numel()) throw Error("the shape is invalid for the size of the tensor");
    return result;
  }
  Tensor reshape(IntArrayRef shape) const { return contiguous().view(shape); }
  Tensor flatten() const { return reshape({-1}); }
  Tensor squeeze(int64_t axis) const { Tensor r = *this; r.sizes_.erase(r.sizes_.begin() + axis), r.strides_.erase(r.strides_.begin() + axis); return r; }
  Tensor unsqueeze(int64_t axis) const { Tensor r = *this; r.sizes_.insert(r.sizes_.begin() + axis, 1), r.strides_.insert(r.strides_.begin() + axis, 1); return r; }
  Tensor transpose(int64_t a, int64_t b) const {
    Tensor result = *this;
    std::swap(result.sizes_[a], result.sizes_[b]), std::swap(result.strides_[a], result.strides_[b]);
    return result;
  }
  Tensor t() const { return dim() == 2 ? transpose(0, 1) : *this; }
  Tensor operator[](int64_t i) const {
    Tensor result = *this;
    result.offset_ += i * strides_[0];
    result.sizes_.erase(result.sizes_.begin()), result.strides_.erase(result.strides_.begin());
    return result;
  }
  Tensor contiguous() const { return is_contiguous() ? *this : copied(options_); }
  Tensor clone() const { return copied(options_); }
  Tensor to(ScalarType type) const { return type == options_.scalar ? *this : copied(options_.dtype(type)); }
  Tensor to(Device device) const { return device == options_.place ? *this : copied(options_.device(device)); }
  Tensor to(DeviceType device) const { return to(Device(device)); }
  Tensor cuda() const { return to(DeviceType::CUDA); }
  Tensor cpu() const { return to(DeviceType::CPU); }
  Tensor detach() const { return *this; }
  Tensor& fill_(double value) { for (int64_t i = 0; i < numel(); i++) write(i, value); return *this; }
  Tensor& zero_() { return fill_(0); }
  Tensor& copy_(const Tensor& other) { for (int64_t i = 0; i < numel(); i++) write(i, other.read(i)); return *this; }
  // The i-th element in the order of indices.
  double read(int64_t i) const {
    const void* at = place(i);
    switch (options_.scalar) {
      case ScalarType::Byte: case ScalarType::Bool: return *(const unsigned char*)at;
      case ScalarType::Char: return *(const signed char*)at;
      case ScalarType::Short: return *(const short*)at;
      case ScalarType::Int: return *(const int*)at;
      case ScalarType::Long: return *(const int64_t*)at;
      case ScalarType::Half: return ((const ::half*)at)->value();
      case ScalarType::BFloat16: return ((const ::nv_bfloat16*)at)->value();
      case ScalarType::Float: return *(const float*)at;
      default: return *(const double*)at;
    }
  }
  void write(int64_t i, double value) {
    void* at = place(i);
    switch (options_.scalar) {
      case ScalarType::Byte: case ScalarType::Bool: *(unsigned char*)at = value; break;
      case ScalarType::Char: *(signed char*)at = value; break;
      case ScalarType::Short: *(short*)at = value; break;
      case ScalarType::Int: *(int*)at = value; break;
      case ScalarType::Long: *(int64_t*)at = value; break;
      case ScalarType::Half: *(::half*)at = ::half(value); break;
      case ScalarType::BFloat16: *(::nv_bfloat16*)at = ::nv_bfloat16(value); break;
      case ScalarType::Float: *(float*)at = value; break;
      default: *(double*)at = value;
    }
    if (is_cuda()) tilescope_touch(at);
  }

 private:
  IntArrayRef sizes_, strides_;
  TensorOptions options_;
  std::shared_ptr<void> memory_;
  int64_t offset_ = 0;
  static IntArrayRef strides_of(const IntArrayRef& shape) {
    IntArrayRef strides(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) strides[i] = stride;
    return strides;
  }
  char* place(int64_t i) const {
    int64_t at = offset_;
    for (size_t axis = sizes_.size(); axis-- > 0; i /= sizes_[axis]) at += i % sizes_[axis] * strides_[axis];
    return (char*)memory_.get() + at * element_size();
  }
  Tensor copied(TensorOptions options) const { return Tensor(sizes_, options).copy_(*this); }
  template <class A, class T, size_t N> A packed() const {
    A result{data_ptr<T>(), {}, {}};
    for (size_t i = 0; i < N; i++) result.sizes_[i] = sizes_.at(i), result.strides_[i] = strides_[i];
    return result;
  }
};
static constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte, kChar = ScalarType::Char, kInt8 = kChar, kShort = ScalarType::Short, kInt16 = kShort, kInt = ScalarType::Int,
                            kInt32 = kInt, kLong = ScalarType::Long, kInt64 = kLong, kHalf = ScalarType::Half, kFloat16 = kHalf, kFloat = ScalarType::Float, kFloat32 = kFloat,
                            kDouble = ScalarType::Double, kFloat64 = kDouble, kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
static constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline Tensor empty(IntArrayRef shape, TensorOptions options = {}) { return Tensor(shape, options); }
inline Tensor full(IntArrayRef shape, double value, TensorOptions options = {}) { return Tensor(shape, options).fill_(value); }
inline Tensor zeros(IntArrayRef shape, TensorOptions options = {}) { return full(shape, 0, options); }
inline Tensor ones(IntArrayRef shape, TensorOptions options = {}) { return full(shape, 1, options); }
inline Tensor empty_like(const Tensor& t) { return empty(t.sizes(), t.options()); }
inline Tensor empty_like(const Tensor& t, TensorOptions options) { return empty(t.sizes(), options); }
inline Tensor zeros_like(const Tensor& t) { return zeros(t.sizes(), t.options()); }
inline Tensor zeros_like(const Tensor& t, TensorOptions options) { return zeros(t.sizes(), options); }
inline Tensor ones_like(const Tensor& t) { return ones(t.sizes(), t.options()); }
inline Tensor full_like(const Tensor& t, double value) { return full(t.sizes(), value, t.options()); }
inline Tensor from_blob(void* memory, IntArrayRef shape, TensorOptions options = {}) { return Tensor(shape, options, memory); }
inline Tensor arange(int64_t n, TensorOptions options = ScalarType::Long) {
  Tensor t({n}, options);
  for (int64_t i = 0; i < n; i++) t.write(i, i);
  return t;
}
// Random numbers of this library, not PyTorch's.
inline std::mt19937& tilescope_generator() { static std::mt19937 generator; return generator; }
inline void manual_seed(uint64_t seed) { tilescope_generator().seed(seed); }
inline Tensor rand(IntArrayRef shape, TensorOptions options = {}) {
  Tensor t(shape, options);
  std::uniform_real_distribution<float> number;
  for (int64_t i = 0; i < t.numel(); i++) t.write(i, number(tilescope_generator()));
  return t;
}
inline Tensor randn(IntArrayRef shape, TensorOptions options = {}) {
  Tensor t(shape, options);
  std::normal_distribution<float> number;
  for (int64_t i = 0; i < t.numel(); i++) t.write(i, number(tilescope_generator()));
  return t;
}
namespace cuda {
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::OptionalCUDAGuard;
struct CUDAGuard : c10::cuda::CUDAGuard { using c10::cuda::CUDAGuard::CUDAGuard; };
inline bool is_available() { return true; }
inline cudaDeviceProp* getCurrentDeviceProperties() { static cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return &p; }
}  // namespace cuda
template <class A, class B> constexpr A ceil_div(A a, B b) { return (a + b - 1) / b; }
}  // namespace at

namespace torch {
using namespace at;
namespace indexing {}
inline void init() {}
struct NoGradGuard {};
}  // namespace torch
namespace at {
struct OptionalDeviceGuard { template <class D> explicit OptionalDeviceGuard(const D&) {} };
}
namespace c10 {
template <class T> std::optional<T> make_optional(T value) { return value; }
}
// Bindings to Python are compiled and never called.
struct TilescopeModule {
  template <class... A> TilescopeModule& def(const char*, A&&...) { return *this; }
  template <class... A> TilescopeModule& impl(const char*, A&&...) { return *this; }
  const char*& doc() { static const char* text; return text; }
};
namespace pybind11 {
struct arg {
  explicit arg(const char*) {}
  template <class T> arg& operator=(const T&) { return *this; }
};
template <class T> struct call_guard {};
struct gil_scoped_release {};
typedef TilescopeModule module_;
}  // namespace pybind11
namespace py = pybind11;
#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME extension
#endif
#define PYBIND11_MODULE(name, variable) static void __attribute__((unused)) tilescope_bindings(TilescopeModule& variable)
#define TORCH_LIBRARY(name, variable) static void __attribute__((unused)) tilescope_library(TilescopeModule& variable)
#define TORCH_CHECK(condition, ...)                                                                 \
  do {                                                                                              \
    if (!(condition)) ::c10::tilescope_fail(__FILE__, __LINE__, "TORCH_CHECK failed: " #condition " ", ##__VA_ARGS__); \
  } while (0)
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ASSERT(condition) TORCH_CHECK(condition)
#define AT_ERROR(...) ::c10::tilescope_fail(__FILE__, __LINE__, __VA_ARGS__)
#define TORCH_WARN(...) ((void)0)
#define C10_CUDA_CHECK(call)                                                                        \
  do {                                                                                              \
    if (cudaError_t tilescope_error_ = (call)) ::c10::tilescope_fail(__FILE__, __LINE__, "CUDA error: ", cudaGetErrorString(tilescope_error_)); \
  } while (0)
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TILESCOPE_CASE(name, T, ...)                                                                \
  case ::c10::ScalarType::name: {                                                                   \
    using scalar_t __attribute__((unused)) = T;                                                     \
    return __VA_ARGS__();                                                                           \
  }
#define TILESCOPE_DISPATCH(type, name, cases)                                                       \
  [&] {                                                                                             \
    switch (type) {                                                                                 \
      cases default : ::c10::tilescope_fail(__FILE__, __LINE__, name, " is not implemented for ", ::c10::toString(type)); \
    }                                                                                               \
  }()
#define TILESCOPE_FLOATS(...) TILESCOPE_CASE(Float, float, __VA_ARGS__) TILESCOPE_CASE(Double, double, __VA_ARGS__)
#define TILESCOPE_INTEGERS(...) TILESCOPE_CASE(Byte, unsigned char, __VA_ARGS__) TILESCOPE_CASE(Char, signed char, __VA_ARGS__) TILESCOPE_CASE(Short, short, __VA_ARGS__) \
  TILESCOPE_CASE(Int, int, __VA_ARGS__) TILESCOPE_CASE(Long, int64_t, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) TILESCOPE_DISPATCH(type, name, TILESCOPE_FLOATS(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) TILESCOPE_DISPATCH(type, name, TILESCOPE_FLOATS(__VA_ARGS__) TILESCOPE_CASE(Half, ::c10::Half, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) TILESCOPE_DISPATCH(type, name, TILESCOPE_INTEGERS(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) TILESCOPE_DISPATCH(type, name, TILESCOPE_FLOATS(__VA_ARGS__) TILESCOPE_INTEGERS(__VA_ARGS__))
