// Launches one kernel of a text without its `main`. A file holds the launch and its arguments (see `single_launch.py`);
// afterwards it holds the contents of the arrays and variables. A launch of a Python program passes the bits of each
// argument, as CUDA's driver does, and its memory is that of the program.
#pragma once
enum { TILESCOPE_ARRAY, TILESCOPE_INTEGER, TILESCOPE_REAL, TILESCOPE_BYTES };
enum { TILESCOPE_DONE, TILESCOPE_STARTED, TILESCOPE_COUNT_DIFFERS, TILESCOPE_KIND_DIFFERS, TILESCOPE_TYPE_DIFFERS, TILESCOPE_SIZE_DIFFERS };

struct TilescopeGiven {  // an argument, or the content of a variable
  int64_t kind;
  char type[8];     // of an array's elements, as NumPy writes it; "" for any
  uint64_t offset;  // of the content of an array, or of other bytes, in the file
  uint64_t size;    // bytes
  int64_t memory;   // arrays with the same number share their memory
  int64_t integer;
  double real;
};
struct TilescopeGivenLaunch {
  uint32_t grid[3], block[3];
  uint64_t shared;
  int32_t is_cooperative, line, count, variables;  // line: of the kernel; count: of arguments, which the variables follow
  int32_t status, which;  // one of TILESCOPE_DONE to TILESCOPE_SIZE_DIFFERS, and the argument
  int64_t parent;
  uint64_t adopted, table;  // number of the Python program's allocations, and where in the file their table begins
  int64_t is_driven;        // whether the arguments are bits for the driver
  char expected[64];  // the type of the parameter that an argument does not fit
};

struct TilescopeGivenFile {
  char* content;
  void* memories[128] = {};
  TILESCOPE_HELPER TilescopeGivenLaunch* launch() const { return (TilescopeGivenLaunch*)content; }
  TILESCOPE_HELPER TilescopeGiven* given(int i) const { return (TilescopeGiven*)(content + sizeof(TilescopeGivenLaunch)) + i; }
  TILESCOPE_HELPER void end(int status, int which, const char* expected = "") const {
    launch()->status = status, launch()->which = which;
    snprintf(launch()->expected, sizeof launch()->expected, "%s", expected);
    _Exit(1);
  }
  TILESCOPE_HELPER void* memory(int i) {
    const TilescopeGiven* argument = given(i);
    void*& pointer = memories[argument->memory];
    if (!pointer) {
      pointer = tilescope_allocate(argument->size ? argument->size : 1, 0);
      memcpy(pointer, content + argument->offset, argument->size);
      tilescope_touch(pointer);
    }
    return pointer;
  }
  template <class T> TILESCOPE_HELPER T value(int i) {
    const TilescopeGiven* argument = given(i);
    if (launch()->is_driven) {
      alignas(T) char bits[sizeof(T)] = {};
      memcpy(bits, content + argument->offset, argument->size < sizeof bits ? argument->size : sizeof bits);
      return *(T*)bits;
    }
    if constexpr (std::is_pointer<T>::value) {
      typedef std::remove_cv_t<std::remove_pointer_t<T>> Element;
      if (argument->kind == TILESCOPE_INTEGER && !argument->integer) return nullptr;
      if (argument->kind != TILESCOPE_ARRAY) end(TILESCOPE_KIND_DIFFERS, i, "a pointer");
      const char* type = std::is_void<Element>::value ? "" : tilescope_type_name<Element>();
      if (*type && argument->type[0] && strcmp(type, argument->type)) end(TILESCOPE_TYPE_DIFFERS, i, type);
      return (T)memory(i);
    } else if constexpr (std::is_arithmetic<T>::value || std::is_enum<T>::value) {
      if (argument->kind == TILESCOPE_INTEGER) return (T)argument->integer;
      if (argument->kind != TILESCOPE_REAL || !std::is_floating_point<T>::value) {
        end(TILESCOPE_KIND_DIFFERS, i, std::is_floating_point<T>::value ? "a number" : "an integer");
      }
      if constexpr (!std::is_enum<T>::value) return (T)argument->real;
      return T();
    } else {
      T value{};
      if (argument->kind != TILESCOPE_BYTES || argument->size != sizeof value) {
        char text[64];
        snprintf(text, sizeof text, "a structure of %d bytes", (int)sizeof value);
        end(TILESCOPE_KIND_DIFFERS, i, text);
      }
      memcpy((void*)&value, content + argument->offset, sizeof value);
      return value;
    }
  }
};

struct TilescopeSingleLaunch {
  TilescopeGivenFile file;
  void* variables[128];
  int variable = 0;
  TILESCOPE_HELPER TilescopeSingleLaunch() {
    file.content = tilescope_map_launch();
    if (!file.content || !tilescope_die_with(file.launch()->parent)) _Exit(2);
    file.launch()->status = TILESCOPE_STARTED;
    const uint64_t* table = (const uint64_t*)(file.content + file.launch()->table);
    for (uint64_t i = 0; i < file.launch()->adopted; i++) tilescope_adopt(table[3 * i], table[3 * i + 1], (int)table[3 * i + 2]);
  }
  // Set the content of a variable, in the order of the file.
  template <class T> TILESCOPE_HELPER void set(T& target) {
    variables[variable] = (void*)&target;
    int i = file.launch()->count + variable++;
    if (file.given(i)->size > sizeof target) file.end(TILESCOPE_SIZE_DIFFERS, i);
    memcpy((void*)&target, file.content + file.given(i)->offset, file.given(i)->size);
  }
  template <class... P> TILESCOPE_HELPER int run(const char* name, const char* source, void (*kernel)(P...)) {
    return run_with(name, source, kernel, std::index_sequence_for<P...>());
  }
  template <class... P, size_t... I>
  TILESCOPE_HELPER int run_with(const char* name, const char* source, void (*kernel)(P...), std::index_sequence<I...>) {
    TilescopeGivenLaunch& launch = *file.launch();
    char takes[16];
    snprintf(takes, sizeof takes, "%d", (int)sizeof...(P));
    if (launch.count != (int)sizeof...(P)) file.end(TILESCOPE_COUNT_DIFFERS, 0, takes);
    TilescopeConfig config(source, launch.line, dim3(launch.grid[0], launch.grid[1], launch.grid[2]),
                           dim3(launch.block[0], launch.block[1], launch.block[2]), launch.shared);
    config.is_cooperative = launch.is_cooperative;
    if (launch.shared > 48 * 1024) tilescope_allow_shared((int)launch.shared);
    tilescope_kernel(name, config, kernel)(file.value<P>((int)I)...);
    tilescope_wait();
    for (int i = 0; i < launch.count; i++) {
      const TilescopeGiven* argument = file.given(i);
      if (argument->kind != TILESCOPE_ARRAY) continue;
      memcpy(file.content + argument->offset, file.memories[argument->memory], argument->size);
    }
    for (int i = 0; i < variable; i++) {
      const TilescopeGiven* given = file.given(launch.count + i);
      memcpy(file.content + given->offset, variables[i], given->size);
    }
    for (void*& pointer : file.memories) {
      if (pointer) tilescope_free(pointer);
    }
    launch.status = TILESCOPE_DONE;
    return 0;
  }
};
