// Launches: `kernel<<<grid, block, shared, stream>>>(arguments)` becomes a call of `tilescope_run` (see `rewrite.py`).
#pragma once
struct TilescopeConfig {
  dim3 grid, block;
  size_t shared;
  const char* file;
  int line;
  int is_cooperative = 0;
  const void* function = nullptr;  // the kernel, if it is known by its address
  cudaStream_t stream;
  TilescopeConfig(const char* file_, int line_, dim3 grid_, dim3 block_, size_t shared_ = 0, cudaStream_t stream_ = nullptr)
      : grid(grid_), block(block_), shared(shared_), file(file_), line(line_), stream(stream_) {}
};

template <class T> TILESCOPE_HELPER constexpr const char* tilescope_type_name() {
  return std::is_same<T, bool>::value             ? "|b1"
         : std::is_floating_point<T>::value       ? (sizeof(T) == 4 ? "<f4" : "<f8")
         : !std::is_integral<T>::value            ? ""
         : sizeof(T) == 1                         ? (std::is_signed<T>::value ? "|i1" : "|u1")
         : sizeof(T) == 2                         ? (std::is_signed<T>::value ? "<i2" : "<u2")
         : sizeof(T) == 4                         ? (std::is_signed<T>::value ? "<i4" : "<u4")
                                                  : (std::is_signed<T>::value ? "<i8" : "<u8");
}

template <class T> struct TilescopeIsReference : std::false_type {};
template <class T> struct TilescopeIsReference<std::reference_wrapper<T>> : std::true_type {};

// The arguments of a launch. Numbers have types such as "=<i4:7"; pointers in structures "2@8": argument 2, byte 8.
struct TilescopeArguments {
  static const int MOST = 128;
  const void* pointers[MOST];
  const char* types[MOST];
  char names[MOST][48];
  int count = 0, position = 0;
  TILESCOPE_HELPER void add(const void* pointer, const char* type) {
    if (count < MOST) pointers[count] = pointer, types[count++] = type;
  }
  template <class T> TILESCOPE_HELPER void note(const T& value) {
    if constexpr (TilescopeIsReference<T>::value) {
      add((const void*)&value.get(), "");
    } else if constexpr (std::is_pointer<T>::value) {
      add((const void*)value, tilescope_type_name<std::remove_cv_t<std::remove_pointer_t<T>>>());
    } else if constexpr (std::is_arithmetic<T>::value) {
      if (count == MOST) return;
      char* name = names[count];
      const size_t size = sizeof names[count];
      const char* type = tilescope_type_name<T>();
      if constexpr (std::is_floating_point<T>::value) snprintf(name, size, "=%s:%.17g", type, (double)value);
      else if constexpr (std::is_signed<T>::value) snprintf(name, size, "=%s:%lld", type, (long long)value);
      else snprintf(name, size, "=%s:%llu", type, (unsigned long long)value);
      add(nullptr, name);
    } else {
      add(nullptr, "v");
      if constexpr (std::is_class<T>::value && sizeof(T) <= 512) {
        for (size_t offset = 0; offset + sizeof(void*) <= sizeof(T); offset += sizeof(void*)) {
          void* word;
          memcpy(&word, (const char*)&value + offset, sizeof word);
          if (count < MOST && tilescope_is_device(word)) {
            snprintf(names[count], sizeof names[count], "%d@%d", position, (int)offset);
            add(word, names[count]);
          }
        }
      }
    }
    position++;
  }
};

// The bytes of an object whose copies have side effects. The host copies it once; threads get bytes, as on a GPU.
template <class T> struct TilescopeBytes {
  alignas(T) char bytes[sizeof(T)];
};
template <class T> struct TilescopeIsBytes : std::false_type {};
template <class T> struct TilescopeIsBytes<TilescopeBytes<T>> : std::true_type {};
template <class T> constexpr bool tilescope_is_copied_as_bytes =
    !std::is_class<T>::value || TilescopeIsReference<T>::value || (std::is_trivially_copy_constructible<T>::value && std::is_trivially_destructible<T>::value);

template <class T> TILESCOPE_HELPER inline auto tilescope_passed(T& value) {
  if constexpr (tilescope_is_copied_as_bytes<T>) {
    return value;
  } else {
    TilescopeBytes<T> passed;
    memcpy(passed.bytes, (const char*)&value, sizeof(T));
    return passed;
  }
}
template <class T> TILESCOPE_HELPER inline T& tilescope_object(T& value) { return value; }
template <class T> TILESCOPE_HELPER inline T& tilescope_object(TilescopeBytes<T>& value) { return *(T*)value.bytes; }

// Calls pass an object with such copies by the address of a copy: a function that takes a reference is called alike.
template <class P> using TilescopeAddressed = std::conditional_t<tilescope_is_copied_as_bytes<P>, P, std::add_lvalue_reference_t<P>>;
template <class... P, class... Tag> TILESCOPE_HELPER inline auto tilescope_addressed(void (*function)(P...), Tag...) {
  return (void (*)(TilescopeAddressed<P>...))function;
}
template <class... P> TILESCOPE_HELPER inline auto tilescope_caller(void (*function)(P...)) {
  auto called = tilescope_addressed(function);
  return [called](auto... values) TILESCOPE_HELPER { called(tilescope_object(values)...); };
}

// Call a kernel that is a template. The lambdas look for its type: by its name, or by the types of the arguments.
template <class... V> struct TilescopeTypes { typedef void (*function)(V...); };
template <class T> T tilescope_type_of(TilescopeBytes<T>&);
template <class T> T tilescope_type_of(T&);
template <class Named, class Deduced, class Plain, class... V>
TILESCOPE_HELPER inline void tilescope_call_template(Named named, Deduced deduced, Plain plain, V&... values) {
  using Types = TilescopeTypes<decltype(tilescope_type_of(values))...>;
  if constexpr ((!TilescopeIsBytes<V>::value && ...)) plain(values...);
  else if constexpr (std::is_invocable<Named, Types>::value) named(Types())(tilescope_object(values)...);
  else if constexpr (std::is_invocable<Deduced, Types>::value) deduced(Types())(tilescope_object(values)...);
  else plain(tilescope_object(values)...);
}
#define TILESCOPE_CALL_TEMPLATE(...)                                                                                       \
  [=](auto... tilescope_values) TILESCOPE_HELPER {                                                                         \
    tilescope_call_template([=](auto tag) -> decltype(tilescope_addressed(__VA_ARGS__, tag)) { return tilescope_addressed(__VA_ARGS__, tag); }, \
                            [=](auto tag) -> decltype(tilescope_addressed(static_cast<typename decltype(tag)::function>(__VA_ARGS__))) {        \
                              return tilescope_addressed(static_cast<typename decltype(tag)::function>(__VA_ARGS__));                           \
                            },                                                                                             \
                            [=](auto&... values) TILESCOPE_HELPER { __VA_ARGS__(values...); }, tilescope_values...);       \
  }

// Keep a launch in the graph of a captured stream (`graphs.h`).
template <class F> TILESCOPE_HELPER void tilescope_keep_launch(const char* kernel, const TilescopeConfig& config, F launch);

template <class F, class... A> TILESCOPE_HELPER void tilescope_start_launch(const char* kernel, const TilescopeConfig& config, const TilescopeArguments& arguments, F run, A... values) {
  auto call = [=]() TILESCOPE_HELPER { run(values...); };
  using Call = decltype(call);
  Call* kept = tilescope_in_kernel() ? new Call(call) : &call;  // the launch of a kernel runs later
  TilescopeLaunch launch{kernel, config.file, config.line, {config.grid.x, config.grid.y, config.grid.z},
                         {config.block.x, config.block.y, config.block.z}, config.shared, config.is_cooperative,
                         [](void* closure) TILESCOPE_HELPER { (*(Call*)closure)(); }, kept,
                         arguments.count, arguments.pointers, arguments.types, config.function, config.stream};
  tilescope_launch(&launch);
}

template <class F, class... A> TILESCOPE_HELPER void tilescope_run(const char* kernel, TilescopeConfig config, F run, A... values) {
  if (config.stream && config.stream->graph) {
    tilescope_keep_launch(kernel, config, [=] {
      TilescopeConfig later = config;
      later.stream = nullptr;
      tilescope_run(kernel, later, run, values...);
    });
    return;
  }
  TilescopeArguments arguments;
  (void)std::initializer_list<int>{(arguments.note(values), 0)...};
  tilescope_start_launch(kernel, config, arguments, run, tilescope_passed(values)...);
}

// An argument as a launch keeps it: a reference stays one.
template <class P> TILESCOPE_HELPER inline auto tilescope_kept(std::remove_reference_t<P>& argument) {
  if constexpr (std::is_lvalue_reference<P>::value) return std::ref(argument);
  else return argument;
}

// A kernel that is no template has one type: its arguments are converted to it, as in a call.
template <class... P> struct TilescopeKernel {
  const char* name;
  TilescopeConfig config;
  void (*function)(P...);
  TILESCOPE_HELPER void operator()(P... arguments) const {
    void (*called)(P...) = function;
    TilescopeConfig named = config;
    named.function = (const void*)called;
    tilescope_run(name, named, tilescope_caller(called), tilescope_kept<P>(arguments)...);
  }
};
template <class... P> TILESCOPE_HELPER inline TilescopeKernel<P...> tilescope_kernel(const char* name, TilescopeConfig config, void (*function)(P...)) {
  return {name, config, function};
}

// Launches by functions. The kernel has its type, as `rewrite.py` drops casts to `void*`.
template <class T> TILESCOPE_HELPER inline T tilescope_argument(void** arguments, size_t index) { return *(T*)arguments[index]; }
template <class... P, size_t... I>
TILESCOPE_HELPER inline void tilescope_run_arguments(const char* name, TilescopeConfig config, void (*function)(P...), void** arguments, std::index_sequence<I...>) {
  tilescope_run(name, config, tilescope_caller(function), tilescope_argument<P>(arguments, I)...);
}
template <class... P>
TILESCOPE_HELPER inline cudaError_t tilescope_launch_arguments(const char* text, const char* file, int line, int is_cooperative, void (*function)(P...), dim3 grid, dim3 block, void** arguments, size_t shared = 0, cudaStream_t stream = nullptr) {
  char name[256];
  int length = 0, depth = 0;
  for (; text[length] && length < 255 && (depth || text[length] != ','); length++) {
    depth += text[length] == '<' || text[length] == '(';
    depth -= text[length] == '>' || text[length] == ')';
    name[length] = text[length];
  }
  name[length] = 0;
  TilescopeConfig config(file, line, grid, block, shared, stream);
  config.is_cooperative = is_cooperative;
  tilescope_set_error(0);
  tilescope_run_arguments(name, config, function, arguments, std::index_sequence_for<P...>());
  return (cudaError_t)tilescope_error(0);
}
TILESCOPE_HELPER inline cudaError_t tilescope_launch_arguments(const char*, const char* file, int line, int, const void*, dim3, dim3, void**, size_t = 0, cudaStream_t = nullptr) {
  tilescope_missing("launches of a kernel by a pointer of type void*", file, line);
}
#define cudaLaunchKernel(...) tilescope_launch_arguments(#__VA_ARGS__, __FILE__, __LINE__, 0, __VA_ARGS__)
#define cudaLaunchCooperativeKernel(...) tilescope_launch_arguments(#__VA_ARGS__, __FILE__, __LINE__, 1, __VA_ARGS__)

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore, cudaLaunchAttributeAccessPolicyWindow, cudaLaunchAttributeCooperative, cudaLaunchAttributeSynchronizationPolicy,
  cudaLaunchAttributeClusterDimension, cudaLaunchAttributeClusterSchedulingPolicyPreference, cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributeProgrammaticEvent, cudaLaunchAttributePriority
};
union cudaLaunchAttributeValue {
  int cooperative, priority, programmaticStreamSerializationAllowed;
  struct { unsigned x, y, z; } clusterDim;
};
struct cudaLaunchAttribute { cudaLaunchAttributeID id; cudaLaunchAttributeValue val; };
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
template <class... P, class... A>
TILESCOPE_HELPER inline cudaError_t tilescope_launch_config(const char* text, const char* file, int line, const cudaLaunchConfig_t* wanted, void (*function)(P...), A&&... arguments) {
  TilescopeConfig config(file, line, wanted->gridDim, wanted->blockDim, wanted->dynamicSmemBytes, wanted->stream);
  for (unsigned i = 0; i < wanted->numAttrs; i++) {
    const cudaLaunchAttribute& attribute = wanted->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) config.is_cooperative = attribute.val.cooperative;
    if (attribute.id == cudaLaunchAttributeClusterDimension && attribute.val.clusterDim.x * attribute.val.clusterDim.y * attribute.val.clusterDim.z > 1) {
      tilescope_missing("clusters of blocks", file, line);
    }
  }
  const char* begin = strchr(text, ',');
  while (begin && (*begin == ',' || *begin == ' ')) begin++;
  char name[256];
  int length = 0, depth = 0;
  for (; begin && begin[length] && length < 255 && (depth || begin[length] != ','); length++) {
    depth += begin[length] == '<' || begin[length] == '(';
    depth -= begin[length] == '>' || begin[length] == ')';
    name[length] = begin[length];
  }
  name[length] = 0;
  tilescope_set_error(0);
  tilescope_run(name, config, tilescope_caller(function), P(std::forward<A>(arguments))...);
  return (cudaError_t)tilescope_error(0);
}
#define cudaLaunchKernelEx(...) tilescope_launch_config(#__VA_ARGS__, __FILE__, __LINE__, __VA_ARGS__)
