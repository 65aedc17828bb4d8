// Launches: `kernel<<<grid, block, shared, stream>>>(arguments)` becomes a call of `tilescope_run` (see `rewrite.py`).
#pragma once
struct TilescopeConfig {
  dim3 grid, block;
  size_t shared;
  const char* file;
  int line;
  int is_cooperative = 0;
  TilescopeConfig(const char* file_, int line_, dim3 grid_, dim3 block_, size_t shared_ = 0, cudaStream_t = nullptr)
      : grid(grid_), block(block_), shared(shared_), file(file_), line(line_) {}
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

// The pointers among a launch's arguments. Those in structures have types such as "2@8": argument 2, byte 8.
struct TilescopeArguments {
  static const int MOST = 128;
  const void* pointers[MOST];
  const char* types[MOST];
  char names[MOST][16];
  int count = 0, position = 0;
  TILESCOPE_HELPER void add(const void* pointer, const char* type) {
    if (count < MOST) pointers[count] = pointer, types[count++] = type;
  }
  template <class T> TILESCOPE_HELPER void note(const T& value) {
    if constexpr (std::is_pointer<T>::value) {
      add((const void*)value, tilescope_type_name<std::remove_cv_t<std::remove_pointer_t<T>>>());
    } else {
      add(nullptr, "v");
      if constexpr (std::is_class<T>::value && std::is_trivially_copyable<T>::value && sizeof(T) <= 512) {
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

template <class F, class... A> TILESCOPE_HELPER void tilescope_run(const char* kernel, TilescopeConfig config, F run, A... values) {
  TilescopeArguments arguments;
  (void)std::initializer_list<int>{(arguments.note(values), 0)...};
  auto call = [=]() TILESCOPE_HELPER { run(values...); };
  using Call = decltype(call);
  Call* kept = tilescope_in_kernel() ? new Call(call) : &call;  // the launch of a kernel runs later
  TilescopeLaunch launch{kernel, config.file, config.line, {config.grid.x, config.grid.y, config.grid.z},
                         {config.block.x, config.block.y, config.block.z}, config.shared, config.is_cooperative,
                         [](void* closure) TILESCOPE_HELPER { (*(Call*)closure)(); }, kept,
                         arguments.count, arguments.pointers, arguments.types};
  tilescope_launch(&launch);
}

// A kernel that is no template has one type: its arguments are converted to it, as in a call.
template <class... P> struct TilescopeKernel {
  const char* name;
  TilescopeConfig config;
  void (*function)(P...);
  TILESCOPE_HELPER void operator()(P... arguments) const {
    void (*called)(P...) = function;
    tilescope_run(name, config, [called](P... values) TILESCOPE_HELPER { called(values...); }, arguments...);
  }
};
template <class... P> TILESCOPE_HELPER inline TilescopeKernel<P...> tilescope_kernel(const char* name, TilescopeConfig config, void (*function)(P...)) {
  return {name, config, function};
}
