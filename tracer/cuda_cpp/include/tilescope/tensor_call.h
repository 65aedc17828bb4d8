// Calls a function of a torch extension on the tensors of a Python program. A file holds the call (see `tensor_call.py`);
// afterwards it describes the results, whose contents are in the device's memory.
#pragma once
enum { TILESCOPE_NONE, TILESCOPE_TENSOR, TILESCOPE_INTEGER, TILESCOPE_REAL, TILESCOPE_BOOL };
enum { TILESCOPE_RETURNED = 1, TILESCOPE_RAISED, TILESCOPE_REFUSED };
enum { TILESCOPE_MOST_AXES = 8, TILESCOPE_MOST_VALUES = 32 };

struct TilescopeGivenValue {
  int64_t kind, integer;
  double real;
  int64_t type, is_cuda;  // type: a c10::ScalarType
  uint64_t address;       // of the first element; for a tensor of the host, its position in the file
  int64_t dim, sizes[TILESCOPE_MOST_AXES], strides[TILESCOPE_MOST_AXES];
};
struct TilescopeGivenCall {
  int64_t parent;
  uint64_t adopted, table;  // number of the Python program's allocations, and where in the file their table begins
  int64_t count, status, results, is_list;  // is_list: whether the function returns several values
  char function[128], text[512];  // text: of an exception, or what an argument must be
  TilescopeGivenValue values[TILESCOPE_MOST_VALUES], returned[TILESCOPE_MOST_VALUES];
};

struct TilescopeTensorCall {
  char* content;
  TilescopeGivenCall* given;
  uint64_t end = 0;                      // of the Python program's memory
  std::vector<at::Tensor>* kept = new std::vector<at::Tensor>;  // the results, never freed: Python reads them afterwards
  TILESCOPE_HELPER TilescopeTensorCall() {
    content = tilescope_map_launch();
    given = (TilescopeGivenCall*)content;
    if (!content || !tilescope_die_with(given->parent)) _Exit(2);
    const uint64_t* table = (const uint64_t*)(content + given->table);
    for (uint64_t i = 0; i < given->adopted; i++) {
      tilescope_adopt(table[3 * i], table[3 * i + 1], (int)table[3 * i + 2]);
      end = table[3 * i] + table[3 * i + 1];
    }
  }
  TILESCOPE_HELPER bool calls(const char* name) const { return !strcmp(given->function, name); }
  TILESCOPE_HELPER void finish(int status, const char* text) const {
    given->status = status;
    snprintf(given->text, sizeof given->text, "%s", text);
  }
  TILESCOPE_HELPER void refuse(const std::string& text) const {
    finish(TILESCOPE_REFUSED, text.c_str());
    _Exit(1);
  }
  TILESCOPE_HELPER at::Tensor tensor(const TilescopeGivenValue& value) const {
    void* first = value.is_cuda ? (void*)value.address : content + value.address;
    c10::TensorOptions options = c10::TensorOptions((c10::ScalarType)value.type).device(value.is_cuda ? c10::kCUDA : c10::kCPU);
    std::vector<int64_t> sizes(value.sizes, value.sizes + value.dim), strides(value.strides, value.strides + value.dim);
    return at::Tensor(std::shared_ptr<void>(first, [](void*) {}), sizes, options, strides);
  }
  template <class T> TILESCOPE_HELPER T value(int i) const {
    const TilescopeGivenValue& value = given->values[i];
    std::string place = "argument " + std::to_string(i + 1) + " must be ";
    bool is_integer = value.kind == TILESCOPE_INTEGER || value.kind == TILESCOPE_BOOL;
    if constexpr (std::is_same<T, at::Tensor>::value) {
      if (value.kind != TILESCOPE_TENSOR) refuse(place + "a tensor");
      return tensor(value);
    } else if constexpr (std::is_same<T, std::optional<at::Tensor>>::value) {
      if (value.kind == TILESCOPE_NONE) return std::nullopt;
      if (value.kind != TILESCOPE_TENSOR) refuse(place + "a tensor or None");
      return tensor(value);
    } else if constexpr (std::is_floating_point<T>::value) {
      if (!is_integer && value.kind != TILESCOPE_REAL) refuse(place + "a number");
      return is_integer ? (T)value.integer : (T)value.real;
    } else {
      static_assert(std::is_integral<T>::value, "Tilescope passes only tensors and numbers to the functions of load_inline");
      if (!is_integer) refuse(place + "an integer");
      return (T)value.integer;
    }
  }
  template <class T> TILESCOPE_HELPER void give(const T& result) {
    if (given->results == TILESCOPE_MOST_VALUES) refuse("the function returns more than 32 values");
    TilescopeGivenValue& value = given->returned[given->results++];
    if constexpr (std::is_same<T, at::Tensor>::value) {
      if (!result.defined()) return;
      bool is_given = result.is_cuda() && (uint64_t)result.data_ptr() < end;
      at::Tensor moved = is_given ? result : result.contiguous().cuda();
      if (moved.dim() > TILESCOPE_MOST_AXES) refuse("the function returns a tensor of more than 8 axes");
      kept->push_back(moved);
      value.kind = TILESCOPE_TENSOR, value.type = (int64_t)moved.dtype(), value.is_cuda = result.is_cuda();
      value.address = (uint64_t)moved.data_ptr(), value.dim = moved.dim();
      for (int64_t axis = 0; axis < value.dim; axis++) value.sizes[axis] = moved.size(axis), value.strides[axis] = moved.stride(axis);
    } else if constexpr (std::is_same<T, bool>::value) {
      value.kind = TILESCOPE_BOOL, value.integer = result;
    } else if constexpr (std::is_floating_point<T>::value) {
      value.kind = TILESCOPE_REAL, value.real = result;
    } else {
      static_assert(std::is_integral<T>::value, "Tilescope takes only tensors and numbers from the functions of load_inline");
      value.kind = TILESCOPE_INTEGER, value.integer = (int64_t)result;
    }
  }
  template <class T> TILESCOPE_HELPER void give(const std::vector<T>& results) {
    given->is_list = 1;
    for (const T& result : results) give(result);
  }
  template <class... T> TILESCOPE_HELPER void give(const std::tuple<T...>& results) {
    given->is_list = 1;
    std::apply([&](const T&... each) { (void)std::initializer_list<int>{(give(each), 0)...}; }, results);
  }
  template <class R, class... P> TILESCOPE_HELPER int run(R (*function)(P...)) {
    return run_with(function, std::index_sequence_for<P...>());
  }
  template <class R, class... P, size_t... I> TILESCOPE_HELPER int run_with(R (*function)(P...), std::index_sequence<I...>) {
    if (given->count != (int)sizeof...(P)) refuse("it takes " + std::to_string(sizeof...(P)) + " arguments, not " + std::to_string(given->count));
    std::tuple<std::decay_t<P>...> arguments{value<std::decay_t<P>>((int)I)...};
    try {
      if constexpr (std::is_void<R>::value) std::apply(function, arguments);
      else give(std::apply(function, arguments));
      tilescope_wait();
      finish(TILESCOPE_RETURNED, "");
    } catch (const std::exception& error) {
      tilescope_wait();
      finish(TILESCOPE_RAISED, error.what());
    }
    return 0;
  }
};
