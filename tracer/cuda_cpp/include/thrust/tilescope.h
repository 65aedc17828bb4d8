// Thrust (NVIDIA's parallel algorithms): vectors, iterators and algorithms, which run on the host and in order. Device
// vectors lie in the device's memory. No trace has the accesses of an algorithm: they belong to no kernel of the program.
#pragma once
#include <algorithm>
#include <complex>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace thrust {
using std::advance;
using std::distance;
using std::get;
using std::make_pair;
using std::make_tuple;
using std::max;
using std::min;
using std::pair;
using std::swap;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
template <class T> using complex = std::complex<T>;
using std::abs;
using std::arg;
using std::conj;
using std::norm;

// --- functions
#define TILESCOPE_FUNCTOR2(name, R, expression)                                                     \
  template <class T = void> struct name {                                                           \
    typedef T first_argument_type, second_argument_type;                                            \
    typedef R result_type;                                                                          \
    constexpr R operator()(const T& a, const T& b) const { return expression; }                     \
  };                                                                                                \
  template <> struct name<void> {                                                                   \
    template <class A, class B> constexpr auto operator()(const A& a, const B& b) const { return expression; } \
  };
TILESCOPE_FUNCTOR2(plus, T, a + b) TILESCOPE_FUNCTOR2(minus, T, a - b) TILESCOPE_FUNCTOR2(multiplies, T, a * b)
TILESCOPE_FUNCTOR2(divides, T, a / b) TILESCOPE_FUNCTOR2(modulus, T, a % b) TILESCOPE_FUNCTOR2(maximum, T, a < b ? b : a)
TILESCOPE_FUNCTOR2(minimum, T, b < a ? b : a) TILESCOPE_FUNCTOR2(equal_to, bool, a == b) TILESCOPE_FUNCTOR2(not_equal_to, bool, a != b)
TILESCOPE_FUNCTOR2(greater, bool, a > b) TILESCOPE_FUNCTOR2(less, bool, a < b) TILESCOPE_FUNCTOR2(greater_equal, bool, a >= b)
TILESCOPE_FUNCTOR2(less_equal, bool, a <= b) TILESCOPE_FUNCTOR2(logical_and, bool, a && b) TILESCOPE_FUNCTOR2(logical_or, bool, a || b)
TILESCOPE_FUNCTOR2(bit_and, T, a & b) TILESCOPE_FUNCTOR2(bit_or, T, a | b) TILESCOPE_FUNCTOR2(bit_xor, T, a ^ b)
#undef TILESCOPE_FUNCTOR2
#define TILESCOPE_FUNCTOR1(name, R, expression)                                                     \
  template <class T = void> struct name {                                                           \
    typedef T argument_type;                                                                        \
    typedef R result_type;                                                                          \
    constexpr R operator()(const T& a) const { return expression; }                                 \
  };                                                                                                \
  template <> struct name<void> {                                                                   \
    template <class A> constexpr auto operator()(const A& a) const { return expression; }           \
  };
TILESCOPE_FUNCTOR1(negate, T, -a) TILESCOPE_FUNCTOR1(square, T, a * a) TILESCOPE_FUNCTOR1(logical_not, bool, !a) TILESCOPE_FUNCTOR1(identity, T, a)
#undef TILESCOPE_FUNCTOR1
template <class A = void, class B = void> struct project1st { template <class X, class Y> X operator()(const X& x, const Y&) const { return x; } };
template <class A = void, class B = void> struct project2nd { template <class X, class Y> Y operator()(const X&, const Y& y) const { return y; } };
template <class T, class B> struct unary_function_of {};
template <class A, class R> struct unary_function { typedef A argument_type; typedef R result_type; };
template <class A, class B, class R> struct binary_function { typedef A first_argument_type; typedef B second_argument_type; typedef R result_type; };
template <class F> struct zip_function {
  F function;
  template <class T> decltype(auto) operator()(T&& values) const { return std::apply(function, std::forward<T>(values)); }
};
template <class F> zip_function<F> make_zip_function(F function) { return {function}; }
template <class F> auto not1(F function) { return [function](const auto& a) { return !function(a); }; }
template <class F> auto not_fn(F function) { return [function](const auto&... a) { return !function(a...); }; }

// Expressions of the arguments _1, _2 and _3.
namespace placeholders {
template <class F> struct expression {
  F function;
  template <class... A> constexpr auto operator()(const A&... values) const { return function(std::tie(values...)); }
};
template <class F> constexpr expression<F> tilescope_expression(F function) { return {function}; }
template <class T> struct is_expression : std::false_type {};
template <class F> struct is_expression<expression<F>> : std::true_type {};
template <class F, class V> constexpr auto tilescope_value_in(const expression<F>& e, const V& values) { return e.function(values); }
template <class T, class V, class = std::enable_if_t<!is_expression<T>::value>> constexpr const T& tilescope_value_in(const T& constant, const V&) { return constant; }
#define TILESCOPE_PLACEHOLDER(op)                                                                   \
  template <class A, class B, class = std::enable_if_t<is_expression<A>::value || is_expression<B>::value>> \
  constexpr auto operator op(const A& a, const B& b) {                                              \
    return tilescope_expression([a, b](const auto& values) { return tilescope_value_in(a, values) op tilescope_value_in(b, values); }); \
  }
TILESCOPE_PLACEHOLDER(+) TILESCOPE_PLACEHOLDER(-) TILESCOPE_PLACEHOLDER(*) TILESCOPE_PLACEHOLDER(/) TILESCOPE_PLACEHOLDER(%)
TILESCOPE_PLACEHOLDER(<) TILESCOPE_PLACEHOLDER(>) TILESCOPE_PLACEHOLDER(<=) TILESCOPE_PLACEHOLDER(>=) TILESCOPE_PLACEHOLDER(==)
TILESCOPE_PLACEHOLDER(!=) TILESCOPE_PLACEHOLDER(&&) TILESCOPE_PLACEHOLDER(||) TILESCOPE_PLACEHOLDER(&) TILESCOPE_PLACEHOLDER(|)
TILESCOPE_PLACEHOLDER(^) TILESCOPE_PLACEHOLDER(<<) TILESCOPE_PLACEHOLDER(>>)
#undef TILESCOPE_PLACEHOLDER
template <class F> constexpr auto operator-(const expression<F>& a) { return tilescope_expression([a](const auto& values) { return -a.function(values); }); }
template <class F> constexpr auto operator!(const expression<F>& a) { return tilescope_expression([a](const auto& values) { return !a.function(values); }); }
template <size_t I> struct tilescope_argument_at { template <class V> constexpr auto operator()(const V& values) const { return std::get<I>(values); } };
static constexpr expression<tilescope_argument_at<0>> _1{};
static constexpr expression<tilescope_argument_at<1>> _2{};
static constexpr expression<tilescope_argument_at<2>> _3{};
}  // namespace placeholders

// --- pointers and vectors
template <class T> using device_reference = T&;
template <class T> class device_ptr {
 public:
  typedef std::random_access_iterator_tag iterator_category;
  typedef std::remove_cv_t<T> value_type;
  typedef ptrdiff_t difference_type;
  typedef T* pointer;
  typedef std::add_lvalue_reference_t<T> reference;
  typedef T element_type;
  constexpr device_ptr(std::nullptr_t = nullptr) : pointer_(nullptr) {}
  template <class U, class = std::enable_if_t<std::is_convertible<U*, T*>::value>> explicit device_ptr(U* pointer) : pointer_(pointer) { tilescope_allow_host(pointer); }
  template <class U, class = std::enable_if_t<std::is_convertible<U*, T*>::value>> constexpr device_ptr(const device_ptr<U>& other) : pointer_(other.get()) {}
  constexpr T* get() const { return pointer_; }
  constexpr reference operator*() const { return *pointer_; }
  constexpr T* operator->() const { return pointer_; }
  constexpr reference operator[](difference_type i) const { return pointer_[i]; }
  explicit operator bool() const { return pointer_ != nullptr; }
  device_ptr& operator++() { ++pointer_; return *this; }
  device_ptr& operator--() { --pointer_; return *this; }
  device_ptr operator++(int) { return device_ptr(pointer_++); }
  device_ptr operator--(int) { return device_ptr(pointer_--); }
  device_ptr& operator+=(difference_type n) { pointer_ += n; return *this; }
  device_ptr& operator-=(difference_type n) { pointer_ -= n; return *this; }
  friend device_ptr operator+(device_ptr a, difference_type n) { return device_ptr(a.pointer_ + n); }
  friend device_ptr operator+(difference_type n, device_ptr a) { return device_ptr(a.pointer_ + n); }
  friend device_ptr operator-(device_ptr a, difference_type n) { return device_ptr(a.pointer_ - n); }
  friend difference_type operator-(device_ptr a, device_ptr b) { return a.pointer_ - b.pointer_; }
  friend bool operator==(device_ptr a, device_ptr b) { return a.pointer_ == b.pointer_; }
  friend bool operator!=(device_ptr a, device_ptr b) { return a.pointer_ != b.pointer_; }
  friend bool operator<(device_ptr a, device_ptr b) { return a.pointer_ < b.pointer_; }
  friend bool operator>(device_ptr a, device_ptr b) { return a.pointer_ > b.pointer_; }
  friend bool operator<=(device_ptr a, device_ptr b) { return a.pointer_ <= b.pointer_; }
  friend bool operator>=(device_ptr a, device_ptr b) { return a.pointer_ >= b.pointer_; }

 private:
  T* pointer_;
};
template <class T> device_ptr<T> device_pointer_cast(T* pointer) { return device_ptr<T>(pointer); }
template <class T> device_ptr<T> device_pointer_cast(const device_ptr<T>& pointer) { return pointer; }
template <class T> T* raw_pointer_cast(T* pointer) { return pointer; }
template <class T> T* raw_pointer_cast(const device_ptr<T>& pointer) { return pointer.get(); }
template <class T> T& raw_reference_cast(T& value) { return value; }
template <class T> device_ptr<T> device_malloc(size_t n) { return device_ptr<T>((T*)tilescope_allocate(n * sizeof(T), 0)); }
template <class T> void device_free(device_ptr<T> pointer) { tilescope_free((void*)pointer.get()); }
template <class T> device_ptr<T> device_new(size_t n = 1) {
  device_ptr<T> pointer = device_malloc<T>(n);
  std::uninitialized_value_construct_n(pointer.get(), n);
  tilescope_touch(pointer.get());
  return pointer;
}
template <class T> void device_delete(device_ptr<T> pointer, size_t = 1) { device_free(pointer); }
struct tilescope_bad_alloc : std::bad_alloc {};
template <class T, int kind> struct tilescope_allocator {
  typedef T value_type;
  template <class U> struct rebind { typedef tilescope_allocator<U, kind> other; };
  tilescope_allocator() = default;
  template <class U> tilescope_allocator(const tilescope_allocator<U, kind>&) {}
  T* allocate(size_t n) {
    void* memory = tilescope_allocate(n * sizeof(T), kind);
    if (!memory) throw std::bad_alloc();
    tilescope_touch(memory);
    if (kind == 0) tilescope_allow_host(memory);
    return (T*)memory;
  }
  void deallocate(T* pointer, size_t) { tilescope_free(pointer); }
  friend bool operator==(const tilescope_allocator&, const tilescope_allocator&) { return true; }
  friend bool operator!=(const tilescope_allocator&, const tilescope_allocator&) { return false; }
};
template <class T> using device_allocator = tilescope_allocator<T, 0>;
template <class T> using universal_allocator = tilescope_allocator<T, 1>;

// A vector whose iterators are `Pointer`.
template <class T, class Allocator, class Pointer, class ConstPointer> class tilescope_vector {
  static_assert(!std::is_same<T, bool>::value, "Tilescope does not know thrust vectors of bool.");

 public:
  typedef T value_type;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  typedef T& reference;
  typedef const T& const_reference;
  typedef Pointer pointer, iterator;
  typedef ConstPointer const_pointer, const_iterator;
  tilescope_vector() = default;
  explicit tilescope_vector(size_t n) : values_(n) {}
  tilescope_vector(size_t n, const T& value) : values_(n, value) {}
  tilescope_vector(std::initializer_list<T> values) : values_(values) {}
  template <class I, class = typename std::iterator_traits<I>::iterator_category> tilescope_vector(I first, I last) { assign(first, last); }
  template <class U, class A> tilescope_vector(const std::vector<U, A>& other) : values_(other.begin(), other.end()) {}
  template <class U, class A, class P, class C> tilescope_vector(const tilescope_vector<U, A, P, C>& other) : values_(other.begin(), other.end()) {}
  template <class U, class A> tilescope_vector& operator=(const std::vector<U, A>& other) { values_.assign(other.begin(), other.end()); return *this; }
  template <class U, class A, class P, class C> tilescope_vector& operator=(const tilescope_vector<U, A, P, C>& other) { values_.assign(other.begin(), other.end()); return *this; }
  tilescope_vector& operator=(std::initializer_list<T> values) { values_ = values; return *this; }
  size_t size() const { return values_.size(); }
  size_t capacity() const { return values_.capacity(); }
  bool empty() const { return values_.empty(); }
  void resize(size_t n) { values_.resize(n); }
  void resize(size_t n, const T& value) { values_.resize(n, value); }
  void reserve(size_t n) { values_.reserve(n); }
  void shrink_to_fit() { values_.shrink_to_fit(); }
  void clear() { values_.clear(); }
  void push_back(const T& value) { values_.push_back(value); }
  void pop_back() { values_.pop_back(); }
  void swap(tilescope_vector& other) { values_.swap(other.values_); }
  template <class I, class = typename std::iterator_traits<I>::iterator_category> void assign(I first, I last) {
    values_.clear();
    for (; first != last; ++first) values_.push_back(*first);
  }
  void assign(size_t n, const T& value) { values_.assign(n, value); }
  T& operator[](size_t i) { return values_[i]; }
  const T& operator[](size_t i) const { return values_[i]; }
  T& front() { return values_.front(); }
  const T& front() const { return values_.front(); }
  T& back() { return values_.back(); }
  const T& back() const { return values_.back(); }
  Pointer data() { return Pointer(values_.data()); }
  ConstPointer data() const { return ConstPointer(values_.data()); }
  Pointer begin() { return Pointer(values_.data()); }
  Pointer end() { return begin() + values_.size(); }
  ConstPointer begin() const { return ConstPointer(values_.data()); }
  ConstPointer end() const { return begin() + values_.size(); }
  ConstPointer cbegin() const { return begin(); }
  ConstPointer cend() const { return end(); }
  std::reverse_iterator<Pointer> rbegin() { return std::reverse_iterator<Pointer>(end()); }
  std::reverse_iterator<Pointer> rend() { return std::reverse_iterator<Pointer>(begin()); }
  Pointer erase(ConstPointer at) { return erase(at, at + 1); }
  Pointer erase(ConstPointer first, ConstPointer last) {
    size_t i = first - cbegin(), j = last - cbegin();
    values_.erase(values_.begin() + i, values_.begin() + j);
    return begin() + i;
  }
  Pointer insert(ConstPointer at, const T& value) {
    size_t i = at - cbegin();
    values_.insert(values_.begin() + i, value);
    return begin() + i;
  }
  template <class I> void insert(ConstPointer at, I first, I last) { values_.insert(values_.begin() + (at - cbegin()), first, last); }
  operator std::vector<T>() const { return std::vector<T>(values_.begin(), values_.end()); }
  friend bool operator==(const tilescope_vector& a, const tilescope_vector& b) { return a.values_ == b.values_; }
  friend bool operator!=(const tilescope_vector& a, const tilescope_vector& b) { return a.values_ != b.values_; }

 private:
  std::vector<T, Allocator> values_;
};
template <class T, class A = std::allocator<T>> using host_vector = tilescope_vector<T, A, T*, const T*>;
template <class T, class A = device_allocator<T>> using device_vector = tilescope_vector<T, A, device_ptr<T>, device_ptr<const T>>;
template <class T, class A = universal_allocator<T>> using universal_vector = tilescope_vector<T, A, T*, const T*>;

// --- iterators
template <class Self, class Value, class Reference> struct tilescope_iterator {
  typedef std::random_access_iterator_tag iterator_category;
  typedef Value value_type;
  typedef ptrdiff_t difference_type;
  typedef Value* pointer;
  typedef Reference reference;
  Self& self() { return (Self&)*this; }
  const Self& self() const { return (const Self&)*this; }
  Self& operator++() { return self() += 1; }
  Self& operator--() { return self() += -1; }
  Self operator++(int) { Self old = self(); self() += 1; return old; }
  Self operator--(int) { Self old = self(); self() += -1; return old; }
  Self& operator-=(ptrdiff_t n) { return self() += -n; }
  Reference operator[](ptrdiff_t n) const { return *(self() + n); }
  friend Self operator+(Self a, ptrdiff_t n) { return a += n; }
  friend Self operator+(ptrdiff_t n, Self a) { return a += n; }
  friend Self operator-(Self a, ptrdiff_t n) { return a += -n; }
  friend bool operator==(const Self& a, const Self& b) { return a - b == 0; }
  friend bool operator!=(const Self& a, const Self& b) { return a - b != 0; }
  friend bool operator<(const Self& a, const Self& b) { return a - b < 0; }
  friend bool operator>(const Self& a, const Self& b) { return a - b > 0; }
  friend bool operator<=(const Self& a, const Self& b) { return a - b <= 0; }
  friend bool operator>=(const Self& a, const Self& b) { return a - b >= 0; }
};
struct use_default {};
template <class T, class = use_default, class = use_default, class = use_default>
struct counting_iterator : tilescope_iterator<counting_iterator<T>, T, T> {
  T value;
  counting_iterator(T v = T()) : value(v) {}
  T operator*() const { return value; }
  counting_iterator& operator+=(ptrdiff_t n) { value += (T)n; return *this; }
  ptrdiff_t operator-(const counting_iterator& other) const { return (ptrdiff_t)value - (ptrdiff_t)other.value; }
  counting_iterator operator-(ptrdiff_t n) const { return counting_iterator((T)(value - n)); }
};
template <class T> counting_iterator<T> make_counting_iterator(T value) { return counting_iterator<T>(value); }
template <class T, class = use_default, class = use_default> struct constant_iterator : tilescope_iterator<constant_iterator<T>, T, T> {
  T value;
  ptrdiff_t place;
  constant_iterator(T v = T(), ptrdiff_t at = 0) : value(v), place(at) {}
  T operator*() const { return value; }
  constant_iterator& operator+=(ptrdiff_t n) { place += n; return *this; }
  ptrdiff_t operator-(const constant_iterator& other) const { return place - other.place; }
  constant_iterator operator-(ptrdiff_t n) const { return constant_iterator(value, place - n); }
};
template <class T> constant_iterator<T> make_constant_iterator(T value) { return constant_iterator<T>(value); }
template <class F, class I, class = use_default, class = use_default>
struct transform_iterator
    : tilescope_iterator<transform_iterator<F, I>, std::decay_t<decltype(std::declval<const F&>()(*std::declval<I>()))>, decltype(std::declval<const F&>()(*std::declval<I>()))> {
  I place;
  F function;
  transform_iterator(I at, F f = F()) : place(at), function(f) {}
  transform_iterator& operator=(const transform_iterator& other) { place = other.place; return *this; }
  transform_iterator(const transform_iterator&) = default;
  decltype(auto) operator*() const { return function(*place); }
  transform_iterator& operator+=(ptrdiff_t n) { place += n; return *this; }
  ptrdiff_t operator-(const transform_iterator& other) const { return place - other.place; }
  transform_iterator operator-(ptrdiff_t n) const { return transform_iterator(place - n, function); }
};
template <class F, class I> transform_iterator<F, I> make_transform_iterator(I at, F function) { return transform_iterator<F, I>(at, function); }
template <class Tuple> struct zip_iterator;
template <class... I>
struct zip_iterator<std::tuple<I...>>
    : tilescope_iterator<zip_iterator<std::tuple<I...>>, std::tuple<typename std::iterator_traits<I>::value_type...>, std::tuple<typename std::iterator_traits<I>::reference...>> {
  std::tuple<I...> places;
  zip_iterator() = default;
  zip_iterator(std::tuple<I...> at) : places(at) {}
  const std::tuple<I...>& get_iterator_tuple() const { return places; }
  auto operator*() const {
    return std::apply([](auto&... place) { return std::tuple<typename std::iterator_traits<I>::reference...>(*place...); }, places);
  }
  zip_iterator& operator+=(ptrdiff_t n) {
    std::apply([n](auto&... place) { (void)std::initializer_list<int>{(place += n, 0)...}; }, places);
    return *this;
  }
  ptrdiff_t operator-(const zip_iterator& other) const { return std::get<0>(places) - std::get<0>(other.places); }
  zip_iterator operator-(ptrdiff_t n) const { zip_iterator a = *this; return a += -n; }
};
template <class... I> zip_iterator<std::tuple<I...>> make_zip_iterator(std::tuple<I...> places) { return {places}; }
template <class A, class B, class... I> zip_iterator<std::tuple<A, B, I...>> make_zip_iterator(A a, B b, I... places) { return {std::tuple<A, B, I...>(a, b, places...)}; }
template <class E, class M>
struct permutation_iterator : tilescope_iterator<permutation_iterator<E, M>, typename std::iterator_traits<E>::value_type, typename std::iterator_traits<E>::reference> {
  E elements;
  M map;
  permutation_iterator(E e, M m) : elements(e), map(m) {}
  decltype(auto) operator*() const { return elements[*map]; }
  permutation_iterator& operator+=(ptrdiff_t n) { map += n; return *this; }
  ptrdiff_t operator-(const permutation_iterator& other) const { return map - other.map; }
  permutation_iterator operator-(ptrdiff_t n) const { return permutation_iterator(elements, map - n); }
};
template <class E, class M> permutation_iterator<E, M> make_permutation_iterator(E e, M m) { return permutation_iterator<E, M>(e, m); }
struct tilescope_discarded { template <class T> const tilescope_discarded& operator=(const T&) const { return *this; } };
template <class = use_default> struct discard_iterator : tilescope_iterator<discard_iterator<>, tilescope_discarded, tilescope_discarded> {
  ptrdiff_t place = 0;
  tilescope_discarded operator*() const { return {}; }
  discard_iterator& operator+=(ptrdiff_t n) { place += n; return *this; }
  ptrdiff_t operator-(const discard_iterator& other) const { return place - other.place; }
};
inline discard_iterator<> make_discard_iterator() { return {}; }
template <class I> using reverse_iterator = std::reverse_iterator<I>;
template <class I> std::reverse_iterator<I> make_reverse_iterator(I at) { return std::reverse_iterator<I>(at); }
template <class I> using iterator_value = std::iterator_traits<I>;
template <class I> struct iterator_traits : std::iterator_traits<I> {};
template <class I> using iterator_value_t = typename std::iterator_traits<I>::value_type;

// --- where algorithms run
struct tilescope_policy {
  tilescope_policy on(cudaStream_t) const { return {}; }
  template <class A> tilescope_policy operator()(const A&) const { return {}; }
};
static const tilescope_policy host, device, seq;
namespace cuda { static const tilescope_policy par, par_nosync; }
namespace omp { static const tilescope_policy par; }
namespace cpp { static const tilescope_policy par; }
namespace system { namespace cuda { static const tilescope_policy par; } namespace omp { static const tilescope_policy par; } }
namespace cuda_cub { using cuda::par; }
struct host_system_tag {};
struct device_system_tag {};

// --- algorithms
template <class T> void tilescope_written(T* pointer) { tilescope_touch((const void*)pointer); }
template <class T> void tilescope_written(const device_ptr<T>& pointer) { tilescope_touch((const void*)pointer.get()); }
template <class I> void tilescope_written(const I&) {}
template <class I> using tilescope_type = typename std::iterator_traits<I>::value_type;
#define TILESCOPE_POLICY(name)                                                                      \
  template <class... A> decltype(auto) name(const tilescope_policy&, A&&... values) { return thrust::name(std::forward<A>(values)...); }
#define TILESCOPE_AS_STD(name)                                                                      \
  template <class I, class... A> auto name(I first, I last, A... values) { return std::name(first, last, values...); } \
  TILESCOPE_POLICY(name)
TILESCOPE_AS_STD(count) TILESCOPE_AS_STD(count_if) TILESCOPE_AS_STD(min_element) TILESCOPE_AS_STD(max_element) TILESCOPE_AS_STD(find)
TILESCOPE_AS_STD(find_if) TILESCOPE_AS_STD(find_if_not) TILESCOPE_AS_STD(any_of) TILESCOPE_AS_STD(all_of) TILESCOPE_AS_STD(none_of) TILESCOPE_AS_STD(equal)
TILESCOPE_AS_STD(is_sorted) TILESCOPE_AS_STD(is_sorted_until) TILESCOPE_AS_STD(mismatch) TILESCOPE_AS_STD(is_partitioned)
TILESCOPE_AS_STD(unique) TILESCOPE_AS_STD(remove) TILESCOPE_AS_STD(remove_if) TILESCOPE_AS_STD(reverse) TILESCOPE_AS_STD(replace) TILESCOPE_AS_STD(replace_if)
TILESCOPE_AS_STD(swap_ranges) TILESCOPE_AS_STD(partition) TILESCOPE_AS_STD(stable_partition)
TILESCOPE_AS_STD(merge) TILESCOPE_AS_STD(set_union) TILESCOPE_AS_STD(set_intersection) TILESCOPE_AS_STD(set_difference) TILESCOPE_AS_STD(set_symmetric_difference)
TILESCOPE_AS_STD(unique_copy) TILESCOPE_AS_STD(remove_copy) TILESCOPE_AS_STD(remove_copy_if) TILESCOPE_AS_STD(reverse_copy) TILESCOPE_AS_STD(replace_copy)
TILESCOPE_AS_STD(replace_copy_if) TILESCOPE_AS_STD(partition_copy) TILESCOPE_AS_STD(partition_point)
template <class I, class... A> auto minmax_element(I first, I last, A... values) { return thrust::make_pair(std::min_element(first, last, values...), std::max_element(first, last, values...)); }
TILESCOPE_POLICY(minmax_element)

template <class I, class T> void fill(I first, I last, const T& value) {
  tilescope_written(first);
  for (; first != last; ++first) *first = value;
}
template <class I, class N, class T> I fill_n(I first, N n, const T& value) {
  tilescope_written(first);
  for (N i = 0; i < n; ++i, ++first) *first = value;
  return first;
}
template <class I, class T> void uninitialized_fill(I first, I last, const T& value) { thrust::fill(first, last, value); }
template <class I> void sequence(I first, I last) {
  tilescope_written(first);
  for (tilescope_type<I> i = 0; first != last; ++first, i = i + 1) *first = i;
}
template <class I, class T> void sequence(I first, I last, T init, T step = T(1)) {
  tilescope_written(first);
  for (size_t i = 0; first != last; ++first, ++i) *first = init + (T)i * step;
}
template <class I, class F> void tabulate(I first, I last, F function) {
  tilescope_written(first);
  for (ptrdiff_t i = 0; first != last; ++first, ++i) *first = function(i);
}
template <class I, class F> void generate(I first, I last, F function) {
  tilescope_written(first);
  for (; first != last; ++first) *first = function();
}
template <class I, class N, class F> void generate_n(I first, N n, F function) { thrust::generate(first, first + n, function); }
template <class I, class O> O copy(I first, I last, O out) {
  tilescope_written(out);
  for (; first != last; ++first, ++out) *out = *first;
  return out;
}
template <class I, class N, class O> O copy_n(I first, N n, O out) { return thrust::copy(first, first + n, out); }
template <class I, class O> O uninitialized_copy(I first, I last, O out) { return thrust::copy(first, last, out); }
template <class I, class O, class P> O copy_if(I first, I last, O out, P predicate) {
  tilescope_written(out);
  for (; first != last; ++first) if (predicate(*first)) { *out = *first; ++out; }
  return out;
}
template <class I, class S, class O, class P> O copy_if(I first, I last, S stencil, O out, P predicate) {
  tilescope_written(out);
  for (; first != last; ++first, ++stencil) if (predicate(*stencil)) { *out = *first; ++out; }
  return out;
}
template <class I, class F> I for_each(I first, I last, F function) {
  for (; first != last; ++first) { auto&& value = *first; function(value); }
  return first;
}
template <class I, class N, class F> I for_each_n(I first, N n, F function) { return thrust::for_each(first, first + n, function); }
template <class I, class O, class F> O transform(I first, I last, O out, F function) {
  tilescope_written(out);
  for (; first != last; ++first, ++out) *out = function(*first);
  return out;
}
template <class I, class J, class O, class F> O transform(I first, I last, J second, O out, F function) {
  tilescope_written(out);
  for (; first != last; ++first, ++second, ++out) *out = function(*first, *second);
  return out;
}
template <class I, class O, class F, class P> auto transform_if(I first, I last, O out, F function, P predicate) -> decltype((bool)predicate(*first), out) {
  tilescope_written(out);
  for (; first != last; ++first, ++out) if (predicate(*first)) *out = function(*first);
  return out;
}
template <class I, class S, class O, class F, class P> auto transform_if(I first, I last, S stencil, O out, F function, P predicate) -> decltype((bool)predicate(*stencil), out) {
  tilescope_written(out);
  for (; first != last; ++first, ++stencil, ++out) if (predicate(*stencil)) *out = function(*first);
  return out;
}
template <class I, class T, class F> T reduce(I first, I last, T init, F function) {
  for (; first != last; ++first) init = function(init, *first);
  return init;
}
template <class I, class T> T reduce(I first, I last, T init) { return thrust::reduce(first, last, init, plus<T>()); }
template <class I> tilescope_type<I> reduce(I first, I last) { return thrust::reduce(first, last, tilescope_type<I>()); }
template <class I, class U, class T, class F> T transform_reduce(I first, I last, U unary, T init, F function) {
  for (; first != last; ++first) init = function(init, unary(*first));
  return init;
}
template <class I, class J, class T, class F, class G> T inner_product(I first, I last, J second, T init, F sum, G product) {
  for (; first != last; ++first, ++second) init = sum(init, product(*first, *second));
  return init;
}
template <class I, class J, class T> T inner_product(I first, I last, J second, T init) {
  for (; first != last; ++first, ++second) init = init + *first * *second;
  return init;
}
template <class I, class O, class F> O inclusive_scan(I first, I last, O out, F function) {
  tilescope_written(out);
  if (first == last) return out;
  tilescope_type<I> total = *first;
  for (*out = total, ++out, ++first; first != last; ++first, ++out) total = function(total, *first), *out = total;
  return out;
}
template <class I, class O> O inclusive_scan(I first, I last, O out) { return thrust::inclusive_scan(first, last, out, plus<>()); }
template <class I, class O, class T, class F> O exclusive_scan(I first, I last, O out, T init, F function) {
  tilescope_written(out);
  for (; first != last; ++first, ++out) {
    T next = function(init, *first);
    *out = init;
    init = next;
  }
  return out;
}
template <class I, class O, class T> O exclusive_scan(I first, I last, O out, T init) { return thrust::exclusive_scan(first, last, out, init, plus<T>()); }
template <class I, class O> O exclusive_scan(I first, I last, O out) { return thrust::exclusive_scan(first, last, out, tilescope_type<I>()); }
template <class I, class O, class U, class F> O transform_inclusive_scan(I first, I last, O out, U unary, F function) {
  return thrust::inclusive_scan(thrust::make_transform_iterator(first, unary), thrust::make_transform_iterator(last, unary), out, function);
}
template <class I, class O, class U, class T, class F> O transform_exclusive_scan(I first, I last, O out, U unary, T init, F function) {
  return thrust::exclusive_scan(thrust::make_transform_iterator(first, unary), thrust::make_transform_iterator(last, unary), out, init, function);
}
template <class K, class I, class O, class E = equal_to<>, class F = plus<>> O inclusive_scan_by_key(K first, K last, I values, O out, E same = E(), F function = F()) {
  tilescope_written(out);
  tilescope_type<I> total{};
  tilescope_type<K> key{};
  for (bool is_first = true; first != last; ++first, ++values, ++out, is_first = false) {
    tilescope_type<K> next = *first;
    tilescope_type<I> value = *values;
    total = !is_first && same(key, next) ? tilescope_type<I>(function(total, value)) : value;
    key = next, *out = total;
  }
  return out;
}
template <class K, class I, class O, class T, class E = equal_to<>, class F = plus<>> O exclusive_scan_by_key(K first, K last, I values, O out, T init, E same = E(), F function = F()) {
  tilescope_written(out);
  T total = init;
  tilescope_type<K> key{};
  for (bool is_first = true; first != last; ++first, ++values, ++out, is_first = false) {
    tilescope_type<K> next = *first;
    if (is_first || !same(key, next)) total = init;
    T after = function(total, *values);
    key = next, *out = total, total = after;
  }
  return out;
}
template <class K, class I, class O> O exclusive_scan_by_key(K first, K last, I values, O out) { return thrust::exclusive_scan_by_key(first, last, values, out, tilescope_type<I>()); }
template <class K, class I, class KO, class O, class E = equal_to<>, class F = plus<>>
pair<KO, O> reduce_by_key(K first, K last, I values, KO keys_out, O out, E same = E(), F function = F()) {
  tilescope_written(keys_out), tilescope_written(out);
  while (first != last) {
    tilescope_type<K> key = *first;
    tilescope_type<I> total = *values;
    for (++first, ++values; first != last && same(key, *first); ++first, ++values) total = function(total, *values);
    *keys_out = key, *out = total, ++keys_out, ++out;
  }
  return {keys_out, out};
}
template <class K, class I, class E = equal_to<>> pair<K, I> unique_by_key(K first, K last, I values, E same = E()) {
  K keys_out = first;
  I out = values;
  while (first != last) {
    tilescope_type<K> key = *first;
    *keys_out = key, *out = *values, ++keys_out, ++out;
    for (++first, ++values; first != last && same(key, *first); ++first, ++values) {}
  }
  return {keys_out, out};
}
template <class I, class C = less<>> void stable_sort(I first, I last, C before = C()) {
  std::vector<tilescope_type<I>> values(first, last);
  std::stable_sort(values.begin(), values.end(), before);
  thrust::copy(values.begin(), values.end(), first);
}
template <class I, class C = less<>> void sort(I first, I last, C before = C()) { thrust::stable_sort(first, last, before); }
template <class K, class I, class C = less<>> void stable_sort_by_key(K first, K last, I values, C before = C()) {
  std::vector<tilescope_type<K>> keys(first, last);
  std::vector<tilescope_type<I>> old(values, values + keys.size());
  std::vector<size_t> order(keys.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return before(keys[a], keys[b]); });
  tilescope_written(first), tilescope_written(values);
  for (size_t i : order) *first = keys[i], *values = old[i], ++first, ++values;
}
template <class K, class I, class C = less<>> void sort_by_key(K first, K last, I values, C before = C()) { thrust::stable_sort_by_key(first, last, values, before); }
template <class M, class I, class O> O gather(M first, M last, I in, O out) {
  tilescope_written(out);
  for (; first != last; ++first, ++out) *out = in[*first];
  return out;
}
template <class M, class S, class I, class O> O gather_if(M first, M last, S stencil, I in, O out) {
  tilescope_written(out);
  for (; first != last; ++first, ++stencil, ++out) if (*stencil) *out = in[*first];
  return out;
}
template <class I, class M, class O> void scatter(I first, I last, M map, O out) {
  tilescope_written(out);
  for (; first != last; ++first, ++map) out[*map] = *first;
}
template <class I, class M, class S, class O> void scatter_if(I first, I last, M map, S stencil, O out) {
  tilescope_written(out);
  for (; first != last; ++first, ++map, ++stencil) if (*stencil) out[*map] = *first;
}
template <class I, class O, class F = minus<>> O adjacent_difference(I first, I last, O out, F function = F()) {
  std::vector<tilescope_type<I>> values(first, last);
  tilescope_written(out);
  for (size_t i = 0; i < values.size(); ++i, ++out) {
    if (i) *out = function(values[i], values[i - 1]);
    else *out = values[i];
  }
  return out;
}
// Searches for one value, or for each of a range.
#define TILESCOPE_SEARCH(name, expression)                                                          \
  template <class I, class V, class O> auto name(I first, I last, V begin, V end, O out) -> decltype(*begin, out) { \
    tilescope_written(out);                                                                         \
    for (; begin != end; ++begin, ++out) { auto result = std::name(first, last, *begin); *out = expression; } \
    return out;                                                                                     \
  }                                                                                                 \
  template <class I, class T> auto name(I first, I last, const T& value) { return std::name(first, last, value); } \
  template <class I, class T, class C> auto name(I first, I last, const T& value, C before) { return std::name(first, last, value, before); } \
  TILESCOPE_POLICY(name)
TILESCOPE_SEARCH(lower_bound, result - first) TILESCOPE_SEARCH(upper_bound, result - first) TILESCOPE_SEARCH(binary_search, result)
#undef TILESCOPE_SEARCH
TILESCOPE_POLICY(fill) TILESCOPE_POLICY(fill_n) TILESCOPE_POLICY(uninitialized_fill) TILESCOPE_POLICY(sequence) TILESCOPE_POLICY(tabulate)
TILESCOPE_POLICY(generate) TILESCOPE_POLICY(generate_n) TILESCOPE_POLICY(copy) TILESCOPE_POLICY(copy_n) TILESCOPE_POLICY(uninitialized_copy)
TILESCOPE_POLICY(copy_if) TILESCOPE_POLICY(for_each) TILESCOPE_POLICY(for_each_n) TILESCOPE_POLICY(transform) TILESCOPE_POLICY(transform_if)
TILESCOPE_POLICY(reduce) TILESCOPE_POLICY(transform_reduce) TILESCOPE_POLICY(inner_product) TILESCOPE_POLICY(inclusive_scan)
TILESCOPE_POLICY(exclusive_scan) TILESCOPE_POLICY(transform_inclusive_scan) TILESCOPE_POLICY(transform_exclusive_scan)
TILESCOPE_POLICY(inclusive_scan_by_key) TILESCOPE_POLICY(exclusive_scan_by_key) TILESCOPE_POLICY(reduce_by_key) TILESCOPE_POLICY(unique_by_key)
TILESCOPE_POLICY(stable_sort) TILESCOPE_POLICY(sort) TILESCOPE_POLICY(stable_sort_by_key) TILESCOPE_POLICY(sort_by_key) TILESCOPE_POLICY(gather)
TILESCOPE_POLICY(gather_if) TILESCOPE_POLICY(scatter) TILESCOPE_POLICY(scatter_if) TILESCOPE_POLICY(adjacent_difference)
#undef TILESCOPE_POLICY
#undef TILESCOPE_AS_STD

// --- random numbers
using std::minstd_rand;
using std::minstd_rand0;
using std::normal_distribution;
using std::ranlux24;
using std::ranlux48;
typedef std::minstd_rand default_random_engine;
template <class T = double> class uniform_real_distribution {
 public:
  typedef T result_type;
  explicit uniform_real_distribution(T low = 0, T high = 1) : low_(low), high_(high) {}
  template <class G> T operator()(G& generator) const {
    T value = (T)(generator() - G::min()) / (T(1) + (T)(G::max() - G::min()));
    return value * (high_ - low_) + low_;
  }

 private:
  T low_, high_;
};
template <class T = int> class uniform_int_distribution {
 public:
  typedef T result_type;
  explicit uniform_int_distribution(T low = 0, T high = std::numeric_limits<T>::max()) : low_(low), high_(high) {}
  template <class G> T operator()(G& generator) const { return (T)uniform_real_distribution<double>(low_, (double)high_ + 1)(generator); }

 private:
  T low_, high_;
};
namespace random {
using thrust::default_random_engine;
using thrust::minstd_rand;
using thrust::normal_distribution;
using thrust::uniform_int_distribution;
using thrust::uniform_real_distribution;
}  // namespace random
}  // namespace thrust
#define THRUST_VERSION 300000
#define THRUST_MAJOR_VERSION 3
#define THRUST_MINOR_VERSION 0
