// What the headers of CUDA programs call in the runtime. Sizes in bytes; `pc` is the return address in the user's code.
#pragma once
#include <cstddef>
#include <cstdint>

#define TILESCOPE_MAX_SHARED (227 * 1024)
#define TILESCOPE_DEVICE_MEMORY 0x200000000000ull  // where the memory of a program in Python lies, see `device_memory.py`
enum { TILESCOPE_LOAD, TILESCOPE_STORE, TILESCOPE_ATOMIC, TILESCOPE_REDUCTION };
enum { TILESCOPE_OUTSIDE = 8, TILESCOPE_MISALIGNED = 16 };  // bits of recorded operations
enum { TILESCOPE_SYNC, TILESCOPE_COUNT, TILESCOPE_AND, TILESCOPE_OR };
static const uint64_t TILESCOPE_FENCE_BLOCK = 1ull << 32, TILESCOPE_FENCE = 1ull << 33;

// A kernel's launch. types: of what the pointers point to, "<f4" for float; "v" for arguments that are no pointers.
struct TilescopeLaunch {
  const char *kernel, *file;
  int line;
  unsigned grid[3], block[3];
  size_t shared;
  int is_cooperative;
  void (*run)(void* closure);  // runs one thread
  void* closure;
  int count;
  const void* const* pointers;
  const char* const* types;
  const void* function;  // the kernel's address, null if it is unknown
  const void* stream;    // null for the default stream
};

extern "C" {
void tilescope_start();
void tilescope_launch(const TilescopeLaunch* launch);
int tilescope_in_kernel();
void tilescope_access(void* pc, const void* address, int size, int operation);
void tilescope_memcpy(void* pc, void* to, const void* from, size_t size);
int tilescope_barrier(void* pc, int kind, int value);
void tilescope_grid_barrier(void* pc);
void tilescope_fence(void* pc, int is_block);
void tilescope_syncwarp(void* pc, unsigned mask);
uint64_t tilescope_shuffle(void* pc, unsigned mask, uint64_t value, int source);
unsigned tilescope_vote(void* pc, unsigned mask, int predicate, unsigned* present);
unsigned tilescope_match(void* pc, unsigned mask, uint64_t value, unsigned* present);
uint64_t tilescope_combine(void* pc, unsigned mask, uint64_t value, uint64_t (*join)(uint64_t, uint64_t));
unsigned tilescope_active();
unsigned tilescope_converge(void* pc);  // waits for the lanes that run the same call; returns them
unsigned tilescope_lane();
unsigned tilescope_dynamic_size();
void tilescope_trap(void* pc, const char* type);
[[noreturn]] void tilescope_missing(const char* name, const char* file, int line);
// Memory of the device. kind: 0 device, 1 managed, 2 pinned.
void* tilescope_allocate(size_t size, int kind);
void tilescope_adopt(uint64_t address, uint64_t size, int state);  // memory of a Python program, by ascending addresses; 1 live, 2 written
int tilescope_free(void* pointer);  // 0, or 1 for a pointer that was not allocated
int tilescope_is_device(const void* pointer);  // 0, or 1 more than the kind
uint64_t tilescope_size_of(const void* pointer);  // bytes from it to the end of its allocation
void tilescope_touch(const void* pointer);  // the host writes to this allocation
void tilescope_allow_host(const void* pointer);  // the host may access this allocation, as through references of Thrust
void tilescope_wait();  // the host waits for all launches and copies
// The order of work in streams. action: "record", "wait" with an event, "host" for the host's wait for a stream, "host event",
// "copy" between addresses of the device, null for none.
void tilescope_order(const char* action, const void* stream, const void* event, const void* to = nullptr, const void* from = nullptr, size_t size = 0);
void tilescope_add_stream();  // the program makes its first stream
void tilescope_finish();  // as `tilescope_wait`, but streams stay unordered
void tilescope_copy_without_waiting(const void* to, const void* from, size_t size);  // an asynchronous copy
int tilescope_is_symbol(const void* pointer);  // whether it points to a variable of the program
int tilescope_space(const void* pointer);  // 0 global, 1 shared, 2 local, 3 the host's
long long tilescope_clock();
void tilescope_allow_shared(int size);  // dynamic shared memory that a kernel may have, beyond 48 KiB
int tilescope_error(int resets);
void tilescope_set_error(int error);
int tilescope_sticky_error();
void tilescope_forget_errors();
uint64_t tilescope_share(void* pc, unsigned mask, uint64_t value, uint64_t* values);  // the values of a warp's lanes; returns those that came
// Advance an XORWOW state without its counter by n * 2^power steps, for `curand_kernel.h`.
void tilescope_xorwow_skip(unsigned* state, uint64_t n, int power);
extern char tilescope_dynamic[];
// For `single_launch.h`.
char* tilescope_map_launch();  // maps the file that describes the launch; null if it can't be read
int tilescope_die_with(int64_t parent);  // ends this program with its parent; 0 if that has ended already
// C = alpha op(A) op(B) + beta C, by columns. ta, tb: whether A and B are transposed.
void tilescope_multiply_float(int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
void tilescope_multiply_double(int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc);
}
