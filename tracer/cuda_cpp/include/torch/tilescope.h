// torch::Tensor, as far as the host code of extensions uses it: memory, shapes and checks, no arithmetic.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"

namespace c10 {
using Half = ::half;
using BFloat16 = ::nv_bfloat16;
struct Error : std::runtime_error { using std::runtime_error::runtime_error; };
template <class... A> [[noreturn]] void tilescope_raise(const char* file, int line, const char* otherwise, const A&... parts) {
  std::ostringstream text;
  (void)std::initializer_list<int>{(text << parts, 0)...};
  throw Error(text.str().empty() ? std::string(otherwise) + " (" + file + ":" + std::to_string(line) + ")" : text.str());
}

enum class ScalarType : int8_t { Byte, Char, Short, Int, Long, Half, Float, Double, Bool = 11, BFloat16 = 15, Undefined = 127 };
constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte, kChar = ScalarType::Char, kInt8 = kChar, kShort = ScalarType::Short, kInt16 = kShort,
                     kInt = ScalarType::Int, kInt32 = kInt, kLong = ScalarType::Long, kInt64 = kLong, kHalf = ScalarType::Half, kFloat16 = kHalf,
                     kFloat = ScalarType::Float, kFloat32 = kFloat, kDouble = ScalarType::Double, kFloat64 = kDouble, kBool = ScalarType::Bool,
                     kBFloat16 = ScalarType::BFloat16;
// Calls `f` with a null pointer to the type.
template <class F> void tilescope_with_type(ScalarType type, F&& f) {
  switch (type) {
    case kByte: return f((uint8_t*)nullptr);
    case kChar: return f((int8_t*)nullptr);
    case kShort: return f((int16_t*)nullptr);
    case kInt: return f((int32_t*)nullptr);
    case kLong: return f((int64_t*)nullptr);
    case kHalf: return f((Half*)nullptr);
    case kFloat: return f((float*)nullptr);
    case kDouble: return f((double*)nullptr);
    case kBool: return f((bool*)nullptr);
    case kBFloat16: return f((BFloat16*)nullptr);
    default: throw Error("the tensor has no type");
  }
}
inline const char* toString(ScalarType type) {
  switch (type) {
    case kByte: return "Byte";
    case kChar: return "Char";
    case kShort: return "Short";
    case kInt: return "Int";
    case kLong: return "Long";
    case kHalf: return "Half";
    case kFloat: return "Float";
    case kDouble: return "Double";
    case kBool: return "Bool";
    case kBFloat16: return "BFloat16";
    default: return "Undefined";
  }
}
inline std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }
template <class T> struct CppTypeToScalarType { static constexpr ScalarType value = ScalarType::Undefined; };
#define TILESCOPE_TYPE(T, name) template <> struct CppTypeToScalarType<T> { static constexpr ScalarType value = name; };
TILESCOPE_TYPE(uint8_t, kByte) TILESCOPE_TYPE(int8_t, kChar) TILESCOPE_TYPE(int16_t, kShort) TILESCOPE_TYPE(int32_t, kInt)
TILESCOPE_TYPE(int64_t, kLong) TILESCOPE_TYPE(long long, kLong) TILESCOPE_TYPE(Half, kHalf) TILESCOPE_TYPE(float, kFloat)
TILESCOPE_TYPE(double, kDouble) TILESCOPE_TYPE(bool, kBool) TILESCOPE_TYPE(BFloat16, kBFloat16)
#undef TILESCOPE_TYPE

enum class DeviceType : int8_t { CPU, CUDA };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
struct Device {
  DeviceType kind = kCPU;
  int number = 0;
  Device(DeviceType k = kCPU, int n = 0) : kind(k), number(n) {}
  Device(const std::string& name) : kind(name.compare(0, 4, "cuda") ? kCPU : kCUDA) {}
  Device(const char* name) : Device(std::string(name)) {}
  bool is_cuda() const { return kind == kCUDA; }
  bool is_cpu() const { return kind == kCPU; }
  DeviceType type() const { return kind; }
  int8_t index() const { return is_cuda() ? (int8_t)number : -1; }
  std::string str() const { return is_cuda() ? "cuda:0" : "cpu"; }
  bool operator==(const Device& other) const { return kind == other.kind; }
  bool operator!=(const Device& other) const { return kind != other.kind; }
};
inline std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }
struct IntArrayRef : std::vector<int64_t> {
  using std::vector<int64_t>::vector;
  IntArrayRef(const std::vector<int64_t>& v) : std::vector<int64_t>(v) {}
  std::vector<int64_t> vec() const { return *this; }
};
inline std::ostream& operator<<(std::ostream& out, const IntArrayRef& sizes) {
  out << "[";
  for (size_t i = 0; i < sizes.size(); i++) out << (i ? ", " : "") << sizes[i];
  return out << "]";
}
struct TensorOptions {
  ScalarType type_ = kFloat;
  Device device_;
  TensorOptions() {}
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(device) {}
  TensorOptions dtype(ScalarType type) const { TensorOptions o = *this; o.type_ = type; return o; }
  TensorOptions device(Device device, int = 0) const { TensorOptions o = *this; o.device_ = device; return o; }
  TensorOptions requires_grad(bool = true) const { return *this; }
  ScalarType dtype() const { return type_; }
  Device device() const { return device_; }
};
}  // namespace c10

#define TORCH_CHECK(condition, ...)                                                                 \
  do {                                                                                              \
    if (!(condition)) ::c10::tilescope_raise(__FILE__, __LINE__, "Expected " #condition " to be true, but got false." __VA_OPT__(, ) __VA_ARGS__); \
  } while (0)
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define TORCH_WARN(...) ((void)0)
#define AT_ASSERTM(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ERROR(...) ::c10::tilescope_raise(__FILE__, __LINE__, "error", __VA_ARGS__)

namespace at {
using namespace c10;
template <class T> struct RestrictPtrTraits { typedef T* __restrict__ PtrType; };
template <class T> struct DefaultPtrTraits { typedef T* PtrType; };
// A tensor as kernels take it: its pointer, sizes and strides.
template <class T, size_t N, template <class> class = DefaultPtrTraits, class I = int64_t> struct PackedTensorAccessor {
  T* data_;
  I sizes_[N], strides_[N];
  template <class J> TILESCOPE_HELPER PackedTensorAccessor(T* data, const J* sizes, const J* strides) : data_(data) {
    for (size_t i = 0; i < N; i++) sizes_[i] = (I)sizes[i], strides_[i] = (I)strides[i];
  }
  TILESCOPE_HELPER I size(size_t i) const { return sizes_[i]; }
  TILESCOPE_HELPER I stride(size_t i) const { return strides_[i]; }
  TILESCOPE_HELPER T* data() const { return data_; }
  TILESCOPE_HELPER decltype(auto) operator[](I i) const {
    if constexpr (N == 1) return (data_[i * strides_[0]]);
    else return PackedTensorAccessor<T, N - 1, DefaultPtrTraits, I>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor32 = PackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor64 = PackedTensorAccessor<T, N, P, int64_t>;
template <class T, size_t N> using TensorAccessor = PackedTensorAccessor<T, N>;

class Tensor {
 public:
  Tensor() {}
  Tensor(std::shared_ptr<void> memory, std::vector<int64_t> sizes, TensorOptions options) : memory_(std::move(memory)), sizes_(std::move(sizes)), options_(options) {
    strides_.assign(sizes_.size(), 1);
    for (size_t i = sizes_.size(); i-- > 1;) strides_[i - 1] = strides_[i] * sizes_[i];
  }
  Tensor(std::shared_ptr<void> memory, std::vector<int64_t> sizes, TensorOptions options, std::vector<int64_t> strides)
      : memory_(std::move(memory)), sizes_(std::move(sizes)), strides_(std::move(strides)), options_(options) {}
  bool defined() const { return (bool)memory_; }
  int64_t dim() const { return (int64_t)sizes_.size(); }
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t i) const { return sizes_.at(i < 0 ? i + sizes_.size() : i); }
  int64_t stride(int64_t i) const { return strides_.at(i < 0 ? i + strides_.size() : i); }
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  int64_t numel() const {
    int64_t count = 1;
    for (int64_t size : sizes_) count *= size;
    return count;
  }
  int64_t element_size() const {
    int64_t size = 0;
    tilescope_with_type(options_.type_, [&](auto* null) { size = sizeof *null; });
    return size;
  }
  int64_t itemsize() const { return element_size(); }
  int64_t nbytes() const { return numel() * element_size(); }
  TensorOptions options() const { return options_; }
  ScalarType dtype() const { return options_.type_; }
  ScalarType scalar_type() const { return options_.type_; }
  ScalarType type() const { return options_.type_; }
  Device device() const { return options_.device_; }
  int64_t get_device() const { return options_.device_.index(); }
  bool is_cuda() const { return options_.device_.is_cuda(); }
  bool is_cpu() const { return !is_cuda(); }
  bool is_floating_point() const { return dtype() == kFloat || dtype() == kDouble || dtype() == kHalf || dtype() == kBFloat16; }
  bool requires_grad() const { return false; }
  bool is_contiguous() const {
    int64_t expected = 1;
    for (size_t i = sizes_.size(); i-- > 0; expected *= sizes_[i]) {
      if (sizes_[i] != 1 && strides_[i] != expected) return false;
    }
    return true;
  }
  void* data_ptr() const { return memory_.get(); }
  template <class T> T* data_ptr() const {
    typedef std::remove_const_t<T> Number;
    ScalarType wanted = CppTypeToScalarType<Number>::value;
    if (wanted != dtype()) tilescope_raise("", 0, "", "expected scalar type ", wanted, " but found ", dtype());
    return (T*)memory_.get();
  }
  template <class T> T* data() const { return data_ptr<T>(); }
  template <class T> T* mutable_data_ptr() const { return data_ptr<T>(); }
  template <class T> const T* const_data_ptr() const { return data_ptr<T>(); }
  template <class T> T item() const {
    TORCH_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
    T value{};
    tilescope_with_type(dtype(), [&](auto* null) {
      std::decay_t<decltype(*null)> number;
      memcpy((void*)&number, memory_.get(), sizeof number);
      value = (T)number;
    });
    return value;
  }
  Tensor contiguous() const { return is_contiguous() ? *this : clone(); }
  Tensor clone() const;
  Tensor to(Device device) const;
  Tensor to(ScalarType type) const;
  Tensor to(const TensorOptions& o) const { return to(o.type_).to(o.device_); }
  Tensor cuda() const { return to(Device(kCUDA)); }
  Tensor cpu() const { return to(Device(kCPU)); }
  Tensor detach() const { return *this; }
  Tensor& fill_(double value) {
    tilescope_with_type(dtype(), [&](auto* null) {
      typedef std::decay_t<decltype(*null)> T;
      for (int64_t i = 0; i < numel(); i++) ((T*)memory_.get())[offset_of(i)] = T(value);
    });
    tilescope_touch(memory_.get());
    return *this;
  }
  Tensor& zero_() { return fill_(0); }
  Tensor& copy_(const Tensor& other) {
    TORCH_CHECK(sizes_ == other.sizes_ && dtype() == other.dtype(), "copy_ needs tensors of one shape and type");
    int64_t size = element_size();
    for (int64_t i = 0; i < numel(); i++) memcpy((char*)memory_.get() + offset_of(i) * size, (char*)other.memory_.get() + other.offset_of(i) * size, size);
    tilescope_touch(memory_.get());
    return *this;
  }
  Tensor view(std::vector<int64_t> sizes) const {
    TORCH_CHECK(is_contiguous(), "view size is not compatible with input tensor's size and stride");
    int64_t rest = numel();
    for (int64_t size : sizes) rest = size > 0 ? rest / size : rest;
    for (int64_t& size : sizes) size = size < 0 ? rest : size;
    Tensor result(memory_, std::move(sizes), options_);
    TORCH_CHECK(result.numel() == numel(), "shape '", result.sizes(), "' is invalid for input of size ", numel());
    return result;
  }
  Tensor reshape(std::vector<int64_t> sizes) const { return contiguous().view(std::move(sizes)); }
  Tensor flatten() const { return reshape({-1}); }
  Tensor transpose(int64_t a, int64_t b) const {
    Tensor result = *this;
    a = a < 0 ? a + dim() : a, b = b < 0 ? b + dim() : b;
    std::swap(result.sizes_.at(a), result.sizes_.at(b));
    std::swap(result.strides_.at(a), result.strides_.at(b));
    return result;
  }
  Tensor t() const { return dim() < 2 ? *this : transpose(0, 1); }
  // The part of an index along an axis.
  Tensor select(int64_t axis, int64_t index) const {
    Tensor result = *this;
    axis = axis < 0 ? axis + dim() : axis, index = index < 0 ? index + sizes_.at(axis) : index;
    TORCH_CHECK(index >= 0 && index < sizes_.at(axis), "index ", index, " is out of bounds for dimension ", axis, " with size ", sizes_[axis]);
    result.memory_ = std::shared_ptr<void>(memory_, (char*)memory_.get() + index * strides_[axis] * element_size());
    result.sizes_.erase(result.sizes_.begin() + axis);
    result.strides_.erase(result.strides_.begin() + axis);
    return result;
  }
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor unsqueeze(int64_t at) const {
    Tensor result = *this;
    at = at < 0 ? at + dim() + 1 : at;
    int64_t stride = at < dim() ? sizes_[at] * strides_[at] : 1;
    result.sizes_.insert(result.sizes_.begin() + at, 1);
    result.strides_.insert(result.strides_.begin() + at, stride);
    return result;
  }
#define TILESCOPE_ACCESSOR(name, I)                                                                 \
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor<T, N, P, I> name() const { \
    TORCH_CHECK((int64_t)N == dim(), "expected ", N, " dims but tensor has ", dim());               \
    return PackedTensorAccessor<T, N, P, I>(data_ptr<T>(), sizes_.data(), strides_.data());         \
  }
  TILESCOPE_ACCESSOR(packed_accessor32, int32_t) TILESCOPE_ACCESSOR(packed_accessor64, int64_t) TILESCOPE_ACCESSOR(packed_accessor, int64_t)
  TILESCOPE_ACCESSOR(accessor, int64_t)
#undef TILESCOPE_ACCESSOR

 private:
  // The distance of the i-th element from the first, in elements.
  int64_t offset_of(int64_t i) const {
    int64_t offset = 0;
    for (size_t axis = sizes_.size(); axis-- > 0; i /= sizes_[axis]) offset += i % sizes_[axis] * strides_[axis];
    return offset;
  }
  std::shared_ptr<void> memory_;
  std::vector<int64_t> sizes_, strides_;
  TensorOptions options_;
};

inline Tensor empty(std::vector<int64_t> sizes, TensorOptions options = {}) {
  Tensor shape(nullptr, sizes, options);
  size_t bytes = (size_t)std::max<int64_t>(shape.nbytes(), 1);
  std::shared_ptr<void> memory;
  if (options.device_.is_cuda()) memory.reset(tilescope_allocate(bytes, 0), [](void* p) { tilescope_free(p); });
  else memory.reset(malloc(bytes), free);
  TORCH_CHECK(memory != nullptr, "CUDA out of memory");
  return Tensor(std::move(memory), std::move(sizes), options);
}
inline Tensor full(std::vector<int64_t> sizes, double value, TensorOptions options = {}) { return empty(std::move(sizes), options).fill_(value); }
inline Tensor zeros(std::vector<int64_t> sizes, TensorOptions options = {}) { return full(std::move(sizes), 0, options); }
inline Tensor ones(std::vector<int64_t> sizes, TensorOptions options = {}) { return full(std::move(sizes), 1, options); }
inline Tensor empty_like(const Tensor& t) { return empty(t.sizes(), t.options()); }
inline Tensor zeros_like(const Tensor& t) { return zeros(t.sizes(), t.options()); }
inline Tensor ones_like(const Tensor& t) { return ones(t.sizes(), t.options()); }
inline Tensor full_like(const Tensor& t, double value) { return full(t.sizes(), value, t.options()); }
inline Tensor empty_like(const Tensor& t, TensorOptions options) { return empty(t.sizes(), options); }
inline Tensor zeros_like(const Tensor& t, TensorOptions options) { return zeros(t.sizes(), options); }
inline Tensor from_blob(void* data, std::vector<int64_t> sizes, TensorOptions options = {}) {
  return Tensor(std::shared_ptr<void>(data, [](void*) {}), std::move(sizes), options);
}
inline Tensor arange(int64_t n, TensorOptions options = kLong) {
  Tensor result = empty({n}, options);
  tilescope_with_type(options.type_, [&](auto* null) {
    typedef std::decay_t<decltype(*null)> T;
    for (int64_t i = 0; i < n; i++) ((T*)result.data_ptr())[i] = T((double)i);
  });
  tilescope_touch(result.data_ptr());
  return result;
}
inline Tensor Tensor::clone() const {
  Tensor result = empty(sizes_, options_);
  return result.copy_(*this);
}
inline Tensor Tensor::to(Device device) const {
  if (device == options_.device_) return *this;
  Tensor result = empty(sizes_, options_.device(device));
  return result.copy_(*this);
}
inline Tensor Tensor::to(ScalarType type) const {
  if (type == dtype()) return *this;
  Tensor result = empty(sizes_, options_.dtype(type)), from = contiguous();
  tilescope_with_type(dtype(), [&](auto* null) {
    typedef std::decay_t<decltype(*null)> S;
    tilescope_with_type(type, [&](auto* target) {
      typedef std::decay_t<decltype(*target)> T;
      for (int64_t i = 0; i < numel(); i++) ((T*)result.data_ptr())[i] = T((double)((const S*)from.data_ptr())[i]);
    });
  });
  tilescope_touch(result.data_ptr());
  return result;
}

namespace cuda {
struct CUDAStream {
  cudaStream_t stream() const { return nullptr; }
  operator cudaStream_t() const { return nullptr; }
  void synchronize() const { cudaDeviceSynchronize(); }
};
inline CUDAStream getCurrentCUDAStream(int = 0) { return {}; }
inline CUDAStream getDefaultCUDAStream(int = 0) { return {}; }
inline CUDAStream getStreamFromPool(bool = false, int = 0) { return {}; }
inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  return &properties;
}
struct CUDAGuard {
  template <class D> explicit CUDAGuard(const D&) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() {}
  template <class D> explicit OptionalCUDAGuard(const D&) {}
};
}  // namespace cuda
inline Device device_of(const Tensor& t) { return t.device(); }
}  // namespace at
namespace c10 {
namespace cuda {
using namespace at::cuda;
inline void device_synchronize() { cudaDeviceSynchronize(); }
}  // namespace cuda
}  // namespace c10

namespace torch {
using namespace at;
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
namespace cuda {
inline bool is_available() { return true; }
inline void synchronize() { cudaDeviceSynchronize(); }
}  // namespace cuda
}  // namespace torch

#define C10_CUDA_CHECK(call)                                                                        \
  do {                                                                                              \
    cudaError_t tilescope_result_of_call = call;                                                    \
    if (tilescope_result_of_call) ::c10::tilescope_raise(__FILE__, __LINE__, "", "CUDA error: ", cudaGetErrorString(tilescope_result_of_call)); \
  } while (0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define C10_RESTRICT __restrict

#define TILESCOPE_CASE(name, T, ...)                                                                \
  case ::c10::ScalarType::name: {                                                                   \
    using scalar_t [[maybe_unused]] = T;                                                            \
    return __VA_ARGS__();                                                                           \
  }
#define TILESCOPE_DISPATCH(TYPE, NAME, ...)                                                         \
  [&] {                                                                                             \
    ::c10::ScalarType tilescope_type = TYPE;                                                        \
    switch (tilescope_type) {                                                                       \
      __VA_ARGS__                                                                                   \
      default: ::c10::tilescope_raise(__FILE__, __LINE__, "", "\"", NAME, "\" not implemented for '", tilescope_type, "'"); \
    }                                                                                               \
  }()
#define TILESCOPE_FLOATS(...) TILESCOPE_CASE(Float, float, __VA_ARGS__) TILESCOPE_CASE(Double, double, __VA_ARGS__)
#define TILESCOPE_INTEGERS(...)                                                                     \
  TILESCOPE_CASE(Byte, uint8_t, __VA_ARGS__) TILESCOPE_CASE(Char, int8_t, __VA_ARGS__) TILESCOPE_CASE(Short, int16_t, __VA_ARGS__) \
  TILESCOPE_CASE(Int, int32_t, __VA_ARGS__) TILESCOPE_CASE(Long, int64_t, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) TILESCOPE_DISPATCH(TYPE, NAME, TILESCOPE_FLOATS(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) TILESCOPE_DISPATCH(TYPE, NAME, TILESCOPE_FLOATS(__VA_ARGS__) TILESCOPE_CASE(Half, ::c10::Half, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) TILESCOPE_DISPATCH(TYPE, NAME, TILESCOPE_INTEGERS(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) TILESCOPE_DISPATCH(TYPE, NAME, TILESCOPE_FLOATS(__VA_ARGS__) TILESCOPE_INTEGERS(__VA_ARGS__))

// Bindings to Python, which a program without Python does not run: they are compiled, so that their errors show.
struct TilescopeModule {
  template <class F, class... A> TilescopeModule& def(const char*, F&&, const A&...) { return *this; }
  std::string& doc() {
    static std::string text;
    return text;
  }
};
#define TORCH_EXTENSION_NAME tilescope_extension
#define TILESCOPE_JOIN_OF(a, b) a##b
#define TILESCOPE_JOIN(a, b) TILESCOPE_JOIN_OF(a, b)
#define PYBIND11_MODULE(name, module) __attribute__((unused)) static void TILESCOPE_JOIN(tilescope_bind_, name)(TilescopeModule & module)
namespace pybind11 {
struct arg {
  explicit arg(const char*) {}
  template <class T> arg& operator=(const T&) { return *this; }
};
inline namespace literals {
inline arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals
}  // namespace pybind11
namespace py = pybind11;
