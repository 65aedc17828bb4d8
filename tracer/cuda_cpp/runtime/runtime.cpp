// Runs CUDA kernels on the CPU and records their accesses. It is compiled without instrumentation and linked to a
// program whose loads and stores call the functions `__tsan_*` below. See docs/decisions for the reasons.
//
// Each CUDA thread is a fiber. `record` is called before each access; depending on the schedule it first lets other
// threads run. A process on the other end of a socket (`tracer/cuda_cpp/session.py`) reads the rows of each launch.
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <dlfcn.h>
#include <exception>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <new>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <ucontext.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "interface.h"

// --- the switch between fibers

extern "C" void tilescope_switch(void** saved, void* next);
#if defined(__x86_64__)
static const int SAVED_REGISTERS = 6;
asm(R"(.text
.globl tilescope_switch
.type tilescope_switch,@function
tilescope_switch:
 push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15
 mov %rsp,(%rdi)
 mov %rsi,%rsp
 pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp
 ret
)");
#elif defined(__aarch64__)
static const int SAVED_REGISTERS = 20;
asm(R"(.text
.globl tilescope_switch
.type tilescope_switch,@function
tilescope_switch:
 sub sp, sp, #160
 stp x19, x20, [sp, #0]
 stp x21, x22, [sp, #16]
 stp x23, x24, [sp, #32]
 stp x25, x26, [sp, #48]
 stp x27, x28, [sp, #64]
 stp x29, x30, [sp, #80]
 stp d8, d9, [sp, #96]
 stp d10, d11, [sp, #112]
 stp d12, d13, [sp, #128]
 stp d14, d15, [sp, #144]
 mov x9, sp
 str x9, [x0]
 mov sp, x1
 ldp x19, x20, [sp, #0]
 ldp x21, x22, [sp, #16]
 ldp x23, x24, [sp, #32]
 ldp x25, x26, [sp, #48]
 ldp x27, x28, [sp, #64]
 ldp x29, x30, [sp, #80]
 ldp d8, d9, [sp, #96]
 ldp d10, d11, [sp, #112]
 ldp d12, d13, [sp, #128]
 ldp d14, d15, [sp, #144]
 add sp, sp, #160
 ret
)");
#else
#error "Tilescope runs CUDA C++ on x86-64 and arm64 only."
#endif

extern "C" {
// What the headers declare as constants: no compiler instruments loads of constants.
unsigned tilescope_threadIdx_x, tilescope_threadIdx_y, tilescope_threadIdx_z;
unsigned tilescope_blockIdx_x, tilescope_blockIdx_y, tilescope_blockIdx_z;
unsigned tilescope_blockDim_x, tilescope_blockDim_y, tilescope_blockDim_z;
unsigned tilescope_gridDim_x, tilescope_gridDim_y, tilescope_gridDim_z;
alignas(256) char tilescope_dynamic[TILESCOPE_MAX_SHARED];
}

namespace {

// --- what is recorded; `tracer/cuda_cpp/rows.py` has the same layouts

struct Row {
  uint64_t address, value;
  uint32_t block, site;
  uint16_t thread, phase;
  uint8_t operation, size;
  uint16_t allocation;  // number of the allocation plus 1; 0 for other memory
};
static_assert(sizeof(Row) == 32, "the layout is known to rows.py");

// A row that is counted and dropped; `tracer/compiled/state.py` has the same layout.
struct CountedRow {
  uint64_t address;
  uint32_t key, context;
  uint64_t unused[2];
};
static_assert(sizeof(CountedRow) == sizeof(Row), "both lie in the same memory");

struct Arrival {
  uint64_t reach;
  uint32_t row, block, site;
  uint16_t thread, phase;
  uint32_t part, kind;  // kind: 0 barrier, 1 warp operation or fence
};
static_assert(sizeof(Arrival) == 32, "the layout is known to rows.py");

struct MaskFault {
  uint32_t block, warp, site, mask, missing, row, why, other;  // why: index in rows.WHY
};

enum State : uint8_t { READY, AT_BARRIER, AT_GRID_BARRIER, AT_WARP, DONE };
enum Order { LOCKSTEP, SEQUENTIAL, RANDOM };
enum Why : uint32_t { WAITING, ENDED, READ, UNNAMED, APART, OUTSIDE_MASK };

struct Fiber {
  void* stack_pointer;
  uint16_t number, phase;
  State state;
  uint8_t lane;
  unsigned x, y, z;
  uint32_t slot;
  int32_t vote;
  // The last address that the thread read, and how often in a row: a thread that waits for another reads it forever.
  uint64_t polled;
  uint32_t polls;
  void* latest;  // where it accessed memory last
  bool is_misaligned;  // the next access is of a vector whose address is no multiple of its size
  bool is_outside;  // an index of the next access is outside the declared dimensions of its array
};

// The lanes of one mask that have arrived at a warp operation.
struct Meeting {
  unsigned mask = 0, arrived = 0;
  uint32_t gate = 0;  // site of `tilescope_converge` plus 1
  uint32_t generation = 0;
  unsigned present[2] = {0, 0};  // lanes of the completed generation
  uint64_t value[2][32];
  uint32_t site[32];
  int source[32];
};

struct Block {
  uint32_t number;
  uint32_t first_number;  // of its first phase, for counted rows
  bool is_paused;  // does not run before the recorded blocks have ended
  int alive, waiting, grid_waiting;
  int votes[3];  // of the barrier's threads: how many are true
  int results[3];
  Fiber* fibers;
  std::vector<std::vector<Meeting>> meetings;  // of each warp
  std::vector<char> shared, dynamic;  // while another block runs
};

struct Allocation {
  uint64_t address, size;
  int kind;  // 0 device, 1 managed, 2 pinned
  bool is_live, is_touched;
  uint64_t pc;  // the user's call that allocated it, from the start of the image
  bool has_host_references;  // Thrust's references let the host read and write it
};

// The distance of two stacks is no power of two, and their ends differ within a page: otherwise all use one set of each cache.
const size_t STACK = 516 << 10, GUARD = 64 << 10, ARENA = 1ull << 36, GAP = 4096, MOST_THREADS = 8192;
// A cooperative launch may have as many threads as the GPU holds. If they are more, their stacks are small, behind the others.
const size_t MULTIPROCESSORS = 132, SMALL_STACK = 68 << 10, MOST_COOPERATIVE = MULTIPROCESSORS * 2048;
const size_t STACKS = STACK * MOST_THREADS + SMALL_STACK * MOST_COOPERATIVE;
const size_t MOST_ARRIVALS = 1 << 22;
const size_t COUNTED_AT_ONCE = 1 << 19, COUNTED_BETWEEN_BLOCKS = 1 << 18;  // rows that are handed over
const uint32_t MOST_NUMBERS = 1 << 20;  // phases until counted rows are handed over
const uint32_t MOST_COUNTED_SITES = 1 << 14;
const uint32_t POLLS = 256;  // reads of the same value before a thread counts as waiting

int control = -1;  // the socket; -1 if nobody records
char *stacks, *arena, *arena_next;
Row *rows, *row, *rows_end, *pending;
Arrival* arrivals;
size_t arrival_count;
std::vector<MaskFault> mask_faults;
std::vector<Allocation> allocations;
std::vector<uint64_t> wrong_frees;  // calls that free what is not allocated
uint64_t image_low, image_high, image_base;
uint64_t writable_low, writable_high;  // the part of the image with its variables
char* shared_base;  // the thread-local memory that holds `__shared__` variables
size_t shared_low, shared_high;  // its part that is swapped between blocks
size_t dynamic_size;
void* host_stack_pointer;
Fiber* now;
Block* block_now;
std::vector<Block> resident;
int threads_per_block;
bool has_small_stacks;
Order order, wanted_order;
uint64_t random_state;
int resident_wanted;
bool is_recording;
uint32_t recorded_below;  // only accesses of blocks below this number are recorded
bool has_volatile;  // the kernel has volatile accesses, as code has that relies on the lockstep of a warp
bool is_counting;  // rows are counted and dropped: blocks run one after the other, which gives rows in their order
uint32_t number_step;  // between the numbers of a block's phases, for counted rows
bool are_paused;  // some blocks wait until the recorded ones have ended
bool is_lost;  // some accesses were neither recorded nor counted
uint32_t begun;  // blocks of the launch
std::vector<uint32_t> chosen_blocks;  // that run, instead of all
uint64_t sampled, grid_blocks;  // of a launch that is too large: how many blocks run, evenly from all
uint64_t rows_before, capacity, recorded_at_once;  // rows handed over before those in the buffer
void (*body)(void*);
void* closure;
size_t closure_size;
int error_now, sticky_error;
bool has_streams;  // whether the program has made a stream
bool in_launch, has_left;
struct {
  uint64_t address;
  uint32_t site, block;
  int thread, size, operation;
  const char* type;
} fault;
// A launch that a kernel made. Its closure is never freed.
struct Queued {
  TilescopeLaunch launch;
  std::vector<const void*> pointers;
  std::vector<std::string> types;
};
std::deque<Queued> queued;
struct Poison { uint64_t offset, size; int width; };
std::vector<Poison> shared_poison;
struct Symbol { uint64_t offset, size; };
std::vector<Symbol> symbols, constants;
// What the host must wait for: launches and asynchronous copies are numbered, and the host has waited for some of them.
uint32_t work_count, work_done;
std::vector<std::string> unfinished;  // the names of those it has not waited for
uint32_t *last_written, *last_read;  // of each word of managed and pinned memory: the number of the work that did it last
std::unordered_map<uint64_t, bool> host_sites;  // by return address: whether the access is of a library
double patience;
size_t allowed_shared = 48 << 10;
long long ticks;  // turns of threads so far

// While it exists, nothing is recorded: our own code may call functions that are.
struct Quiet {
  static int depth;
  Fiber* fiber = now;
  Quiet() { now = nullptr, depth++; }
  ~Quiet() { now = fiber, depth--; }
};
int Quiet::depth;

// --- memory that kernels allocate: pieces of one allocation, whose sizes are powers of two

const size_t HEADER = 16, CLASSES = 40;
const uint64_t HEAP_CALL = 1;  // in place of the call that allocated it, known to `launch_memory.py`
char *heap, *heap_next;
size_t heap_size = 8 << 20;  // as on a GPU, unless cudaDeviceSetLimit changes it
void* freed_pieces[CLASSES];

void* allocate_piece(size_t size) {
  size_t kind = 5;
  while (((size_t)1 << kind) < size + HEADER) kind++;
  char* piece = (char*)freed_pieces[kind];
  if (piece) {
    freed_pieces[kind] = *(void**)(piece + HEADER);
  } else {
    if (!heap || heap_next + ((size_t)1 << kind) > heap + heap_size) return nullptr;
    piece = heap_next, heap_next += (size_t)1 << kind;
  }
  *(size_t*)piece = kind;
  return piece + HEADER;
}

bool free_piece(void* pointer) {
  if (!heap || (uint64_t)pointer - (uint64_t)heap >= heap_size) return false;
  char* piece = (char*)pointer - HEADER;
  *(void**)pointer = freed_pieces[*(size_t*)piece];
  freed_pieces[*(size_t*)piece] = piece;
  return true;
}

// --- messages

void send_text(const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    ssize_t n = send(control, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) {
      if (n < 0 && errno == EINTR) continue;
      _exit(111);  // the recording process has ended
    }
    sent += n;
  }
}

std::string receive_line() {
  std::string line;
  char c;
  for (;;) {
    ssize_t n = recv(control, &c, 1, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(111);
    if (c == '\n') return line;
    line += c;
  }
}

std::string format(const char* pattern, ...) {
  va_list list;
  va_start(list, pattern);
  char text[512];
  int n = vsnprintf(text, sizeof text, pattern, list);
  va_end(list);
  return std::string(text, n < (int)sizeof text ? n : (int)sizeof text - 1);
}

std::string quoted(const char* text) {
  std::string result = "\"";
  for (const char* c = text; *c; c++) {
    if (*c == '"' || *c == '\\') result += '\\';
    if ((unsigned char)*c < 32) result += ' ';
    else result += *c;
  }
  return result + "\"";
}

// --- sites: a number for each return address, in order of the first access

struct SiteEntry { uint64_t pc; uint32_t number, allocation; };
std::vector<SiteEntry> site_table(1 << 12, SiteEntry{0, 0, 0});
std::vector<uint64_t> sites;
size_t sites_sent;

SiteEntry& site_entry(uint64_t pc) {
  size_t mask = site_table.size() - 1, i = (pc * 0x9E3779B97F4A7C15ull >> 40) & mask;
  while (site_table[i].pc != pc) {
    if (!site_table[i].pc) {
      Quiet quiet;
      if (2 * sites.size() > mask) {  // it is half full
        std::vector<SiteEntry> old(2 * (mask + 1), SiteEntry{0, 0, 0});
        old.swap(site_table);
        mask = site_table.size() - 1;
        for (auto& entry : old) {
          if (!entry.pc) continue;
          size_t k = (entry.pc * 0x9E3779B97F4A7C15ull >> 40) & mask;
          while (site_table[k].pc) k = (k + 1) & mask;
          site_table[k] = entry;
        }
        return site_entry(pc);
      }
      site_table[i] = {pc, (uint32_t)sites.size(), 0};
      sites.push_back(pc - image_base);
      return site_table[i];
    }
    i = (i + 1) & mask;
  }
  return site_table[i];
}

uint32_t site_of(void* pc) { return site_entry((uint64_t)pc).number; }

// --- values

inline uint64_t value_at(const void* address, unsigned size) {
  switch (size) {
    case 4: return *(const uint32_t*)address;
    case 1: return *(const uint8_t*)address;
    case 2: return *(const uint16_t*)address;
    default: return *(const uint64_t*)address;
  }
}

// A store's value is known only after the call: it is read before the next event.
inline void complete_store() {
  if (pending) {
    pending->value = value_at((void*)pending->address, pending->size);
    pending = nullptr;
  }
}

// Note which thread runs.
inline void begin_turn(Fiber& fiber) {
  now = &fiber;
  tilescope_threadIdx_x = fiber.x, tilescope_threadIdx_y = fiber.y, tilescope_threadIdx_z = fiber.z;
  ticks++;
}

inline void yield_to_host() { tilescope_switch(&now->stack_pointer, host_stack_pointer); }

// Let the other threads make their next access. In lockstep the next thread of the block continues at once.
inline void yield_turn() {
  if (order == LOCKSTEP && !block_now->is_paused) {
    Fiber* fiber = now;
    for (Fiber *next = fiber + 1, *end = block_now->fibers + threads_per_block; next < end; next++) {
      if (next->state != READY) continue;
      begin_turn(*next);
      tilescope_switch(&fiber->stack_pointer, next->stack_pointer);
      return;
    }
  }
  yield_to_host();
}

[[noreturn]] void stop_thread(const char* type, uint64_t address, void* pc, int size, int operation) {
  complete_store();
  if (!fault.type) {
    fault = {address, site_of(pc), block_now->number, now->number, size, operation, type};
  }
  now->state = DONE;
  block_now->alive--;
  yield_to_host();
  __builtin_trap();
}

void hand_over(bool is_end);
void run_fast();
void resume_blocks();

// A launch or a copy begins, for which the host must wait.
void begin_work(const char* name) {
  Quiet quiet;
  work_count++;
  unfinished.push_back(name);
}

// The host waits for all work.
void finish_work() {
  work_done = work_count;
  unfinished.clear();
}

// --- accesses

inline uint32_t allocation_of(uint64_t address) {
  size_t low = 0, high = allocations.size();
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (allocations[middle].address <= address) low = middle + 1;
    else high = middle;
  }
  return low;  // the last that begins at or before it, plus 1
}

// The allocation that an access means, plus 1: the one that holds the address, ends shortly before it, or begins shortly
// behind it; 0 if there is none. Between two allocations lie two gaps.
inline uint32_t meant_allocation(uint64_t address) {
  uint32_t number = allocation_of(address);
  if (number && address - allocations[number - 1].address < allocations[number - 1].size + GAP) return number;
  return number < allocations.size() && allocations[number].address - address <= GAP ? number + 1 : 0;
}

// The live allocation that holds an address, null if there is none.
Allocation* allocation_at(const void* pointer) {
  uint32_t number = allocation_of((uint64_t)pointer);
  if (!number) return nullptr;
  Allocation& place = allocations[number - 1];
  return place.is_live && (uint64_t)pointer - place.address < place.size ? &place : nullptr;
}

// Memory of a kernel's other than allocations. An index outside an array of shared memory may load right beyond it.
bool is_known(uint64_t address, bool is_load) {
  if (is_load && now->is_outside && address - (uint64_t)shared_base - shared_low + GAP < shared_high - shared_low + 2 * GAP) return true;
  return address - (uint64_t)shared_base - shared_low < shared_high - shared_low ||
         address - (uint64_t)tilescope_dynamic < TILESCOPE_MAX_SHARED ||
         address - image_low < image_high - image_low;
}

// Whether an address is of constants of the program that are none of its variables, such as tables of virtual functions.
bool is_unnamed_constant(uint64_t address) {
  if (address - image_low >= image_high - image_low || address - writable_low < writable_high - writable_low) return false;
  for (auto& symbol : symbols) if (address - image_base - symbol.offset < symbol.size) return false;
  return true;
}

// Note which work accesses memory that the host can access too.
inline void note_work(const Allocation& place, uint64_t address, uint64_t size, bool writes) {
  if (!place.kind) return;
  for (uint64_t word = (address - (uint64_t)arena) / 4; word <= (address + size - 1 - (uint64_t)arena) / 4; word++) {
    (writes ? last_written : last_read)[word] = work_count;
  }
}

// Whether an access is allowed at least as far as a quick look tells.
inline bool is_allowed(uint64_t address, unsigned size, bool writes) {
  static size_t latest;
  if (address - (uint64_t)arena >= ARENA) return is_known(address, false);
  if (latest >= allocations.size() || address - allocations[latest].address >= allocations[latest].size + GAP) {
    uint32_t number = meant_allocation(address);
    if (!number) return false;
    latest = number - 1;
  }
  Allocation& place = allocations[latest];
  if (!place.is_live) return false;
  note_work(place, address, size, writes);
  return true;
}

// Whether the host can read a byte: then a kernel got a pointer to the host's memory.
bool is_readable(uint64_t address) {
  if (address < 4096) return false;
  static int ends[2] = {-1, -1};
  if (ends[0] < 0 && pipe(ends)) return false;
  char byte;  // the system refuses to write from memory that can't be read
  return write(ends[1], (const void*)address, 1) == 1 && read(ends[0], &byte, 1) == 1;
}

// An access of the host. On a GPU it cannot access memory of cudaMalloc, and must wait for work on memory it shares.
void check_host(void* pc, uint64_t address, uint64_t size, bool writes) {
  if (control < 0 || in_launch || has_left || Quiet::depth) return;
  static size_t latest;
  if (latest >= allocations.size() || address - allocations[latest].address >= allocations[latest].size) {
    uint32_t number = allocation_of(address);
    if (!number) return;
    latest = number - 1;
  }
  Allocation& place = allocations[latest];
  if (!place.is_live || address - place.address >= place.size || place.has_host_references) return;
  if (place.kind) {
    if (unfinished.empty()) return;
    uint64_t word = (address - (uint64_t)arena) / 4;
    uint32_t latest_work = last_written[word];
    if (writes && last_read[word] > latest_work) latest_work = last_read[word];
    if (latest_work <= work_done) return;
  }
  auto known = host_sites.find((uint64_t)pc);
  if (known != host_sites.end()) {
    if (known->second && place.kind) finish_work();  // the algorithms of libraries wait
    return;
  }
  void* frames[32];
  int count = backtrace(frames, 32), first = 0;
  while (first < count && frames[first] != pc) first++;
  std::string text = format("{\"event\":\"host\",\"kind\":%d,\"writes\":%d,\"work\":", place.kind, writes);
  text += quoted(place.kind ? unfinished.back().c_str() : "") + ",\"pcs\":[";
  for (int i = first; i < count; i++) text += format("%s%llu", i > first ? "," : "", (unsigned long long)frames[i] - image_base);
  if (first == count) text += format("%llu", (unsigned long long)pc - image_base);
  send_text(text + "]}\n");
  bool is_of_library = receive_line() == "library";
  host_sites[(uint64_t)pc] = is_of_library;
  if (is_of_library && place.kind) finish_work();
  if (is_of_library || place.kind) return;
  has_left = true;  // as on a computer with a GPU
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

inline void check_host_range(void* pc, const void* pointer, uint64_t size, bool writes) {
  if (size && (uint64_t)pointer - (uint64_t)arena < ARENA) check_host(pc, (uint64_t)pointer, size, writes);
}

// The space of memory other than allocations, an index in `counted_rows.SPACES`.
inline uint32_t space_of_variable(uint64_t address) {
  if (address - (uint64_t)shared_base - shared_low < shared_high - shared_low || address - (uint64_t)tilescope_dynamic < TILESCOPE_MAX_SHARED) return 1;
  for (auto& constant : constants) if (address - image_base - constant.offset < constant.size) return 2;
  return 0;
}

// Whether a thread seems to wait for another: it reads the same address again and again.
inline bool is_polling(Fiber* fiber, uint64_t address, bool is_read) {
  if (!is_read) fiber->polls = 0;
  else if (fiber->polled != address) fiber->polled = address, fiber->polls = 0;
  else if (++fiber->polls >= POLLS) return fiber->polls = 0, true;
  return false;
}

// Record an access in a row that is counted and dropped, unless it is outside its array.
inline void count_access(Fiber* fiber, uint64_t address, unsigned size, unsigned operation, uint32_t site, uint32_t allocation) {
  bool is_outside = fiber->is_outside && !allocation;
  fiber->is_misaligned = false;
  if (allocation) {
    const Allocation& place = allocations[allocation - 1];
    uint64_t offset = address - place.address;
    is_outside = offset >= place.size || offset + size > place.size;
  } else {
    fiber->is_outside = false;
  }
  if (is_outside) return;
  if (site >= MOST_COUNTED_SITES) {
    is_lost = true, is_recording = false;
    return;
  }
  CountedRow* r = (CountedRow*)row++;
  uint32_t space = allocation ? 0 : space_of_variable(address);
  r->address = address;
  r->key = (space * 5 + __builtin_ctz(size)) << 16 | site * 4 | operation;
  r->context = (block_now->first_number + fiber->phase * number_step) * threads_per_block + fiber->number;
}

void record(void* pc, const void* pointer, unsigned size, unsigned operation) {
  Fiber* fiber = now;
  uint64_t address = (uint64_t)pointer;
  if (!fiber) {
    if (address - (uint64_t)arena < ARENA) check_host(pc, address, size, operation != TILESCOPE_LOAD);
    return;
  }
  if (address - (uint64_t)stacks < STACKS) {
    fiber->is_outside = false;
    return;
  }
  fiber->latest = pc;
  bool is_read = operation != TILESCOPE_STORE;
  if (order == SEQUENTIAL || are_paused) {
    if (is_polling(fiber, address, is_read)) {
      resume_blocks();
      if (order == SEQUENTIAL) yield_to_host();
    }
  }
  if (order != SEQUENTIAL || block_now->is_paused) yield_turn();
  complete_store();
  bool is_recorded = is_recording && block_now->number < recorded_below;
  if (!is_recorded && (size & (size - 1)) == 0 && !(address & (size - 1)) && is_allowed(address, size, operation != TILESCOPE_LOAD)) return;
  SiteEntry& site = site_entry((uint64_t)pc);
  uint32_t allocation = 0;
  if (address - (uint64_t)arena < ARENA) {
    allocation = site.allocation;
    if (!allocation || address - allocations[allocation - 1].address >= allocations[allocation - 1].size) {
      allocation = meant_allocation(address);
      if (!allocation) stop_thread("IllegalAddress", address, pc, size, operation);
      site.allocation = allocation;
    }
    if (!allocations[allocation - 1].is_live) stop_thread("FreedMemory", address, pc, size, operation);
    note_work(allocations[allocation - 1], address, size, operation != TILESCOPE_LOAD);
  } else if (!is_known(address, operation == TILESCOPE_LOAD)) {
    stop_thread(is_readable(address) ? "HostMemory" : "IllegalAddress", address, pc, size, operation);
  } else if (is_unnamed_constant(address)) {
    fiber->is_outside = false;
    return;
  }
  if (address & (size - 1) & -(uint64_t)((size & (size - 1)) == 0)) {
    stop_thread("MisalignedAddress", address, pc, size, operation);
  }
  if (!is_recorded) return;
  if (row == rows_end) {
    hand_over(false);
    if (!is_recording || (block_now->number >= recorded_below && !block_now->is_paused)) return;
  }
  if (is_counting) {
    count_access(fiber, address, size, operation, site.number, allocation);
    return;
  }
  Row* r = row++;
  r->address = address;
  r->block = block_now->number;
  r->site = site.number;
  r->thread = fiber->number;
  r->phase = fiber->phase;
  r->operation = operation;
  if (fiber->is_misaligned && (address & 15)) {
    r->operation |= TILESCOPE_MISALIGNED;
    fiber->is_misaligned = false;
  }
  if (fiber->is_outside && !allocation) {
    r->operation |= TILESCOPE_OUTSIDE;
    fiber->is_outside = false;
  }
  r->size = size;
  r->allocation = allocation;
  if (operation == TILESCOPE_LOAD) r->value = value_at(pointer, size);
  else pending = r;
}

void record_range(void* pc, const void* pointer, size_t size, unsigned operation) {
  const char* byte = (const char*)pointer;
  while (size) {  // in the pieces that an aligned copy would use
    unsigned piece = 16;
    while (piece > size || ((uint64_t)byte & (piece - 1))) piece /= 2;
    record(pc, byte, piece, operation);
    byte += piece;
    size -= piece;
  }
}

void copy_recorded(void* pc, void* target, const void* source, size_t size) {
  char* to = (char*)target;
  const char* from = (const char*)source;
  // Copies of vectors arrive here too: whether a misaligned one is an error, the source tells (`decode.py`).
  bool is_misaligned = (size == 8 || size == 16) && (((uint64_t)to | (uint64_t)from) & (size - 1));
  if (is_misaligned) now->is_misaligned = true;
  while (size) {
    unsigned piece = 16;
    while (piece > size || (((uint64_t)to | (uint64_t)from) & (piece - 1))) piece /= 2;
    record(pc, from, piece, TILESCOPE_LOAD);
    record(pc, to, piece, TILESCOPE_STORE);
    __builtin_memmove(to, from, piece);
    to += piece, from += piece, size -= piece;
  }
}

// A volatile access, as of code that relies on the lockstep of a warp: threads no longer run fast.
inline void note_volatile() {
  if (!now || has_volatile) return;
  has_volatile = true;
  order = wanted_order;
}

// --- arrivals

void arrive(void* pc, unsigned kind, uint64_t reach, uint32_t part) {
  complete_store();
  if (!is_recording || is_counting || block_now->number >= recorded_below || arrival_count == MOST_ARRIVALS) return;
  uint32_t step = rows_before + (row - rows);
  arrivals[arrival_count++] = {reach, step, block_now->number, site_of(pc), now->number, now->phase, part, kind};
}

void release_barrier(Block& block) {
  for (int i = 0; i < threads_per_block; i++) {
    Fiber& fiber = block.fibers[i];
    if (fiber.state == AT_BARRIER) fiber.state = READY, fiber.phase++;
  }
  for (int k = 0; k < 3; k++) block.results[k] = block.votes[k], block.votes[k] = 0;
  block.waiting = 0;
}

unsigned lanes_with_threads(const Block& block, int warp, bool running) {
  unsigned lanes = 0;
  for (int lane = 0; lane < 32 && warp * 32 + lane < threads_per_block; lane++) {
    if (!running || block.fibers[warp * 32 + lane].state != DONE) lanes |= 1u << lane;
  }
  return lanes;
}

// Check for a step of a sum over 2, 4, 8 or 16 lanes next to each other, whose last lanes take values from beyond:
// the lanes that take from within the mask need no value of the others. As `_drops_undefined` of warp_operations.py.
bool drops_undefined(const Meeting& meeting) {
  if (!meeting.mask) return false;
  unsigned size = __builtin_popcount(meeting.mask), low = __builtin_ctz(meeting.mask);
  if (size & (size - 1) || size == 32 || meeting.mask != ((1u << size) - 1) << low || low % size) return false;
  int distance = 0;
  bool is_partly_inside = false;
  for (int lane = 0; lane < 32; lane++) {
    if (!(meeting.arrived >> lane & 1) || meeting.source[lane] == lane) continue;
    int source = meeting.source[lane];
    if (distance && source - lane != distance) return false;
    distance = source - lane;
    is_partly_inside |= source >= 0 && source < 32 && (meeting.mask >> source & 1);
  }
  return is_partly_inside;
}

void note_mask_faults(Block& block, int warp, const Meeting& meeting) {
  if (meeting.gate) return;  // the lanes that come are the answer
  unsigned running = lanes_with_threads(block, warp, true), there = lanes_with_threads(block, warp, false);
  unsigned mask = meeting.mask, arrived = meeting.arrived, sources = 0;
  int first = __builtin_ctz(arrived);
  uint32_t step = rows_before + (row - rows);
  auto note = [&](unsigned missing, Why why, uint32_t other) {
    Quiet quiet;
    for (auto& fault : mask_faults) if (fault.site == meeting.site[first] && fault.why == why) return;
    mask_faults.push_back({block.number, (uint32_t)warp, meeting.site[first], mask, missing, step, why, other});
  };
  for (int lane = 0; lane < 32; lane++) {
    if (arrived >> lane & 1 && meeting.source[lane] >= 0 && meeting.source[lane] < 32) sources |= 1u << meeting.source[lane];
  }
  if (unsigned waiting = mask & running & ~arrived) note(waiting, WAITING, 0);
  if (unsigned outside = sources & ~mask; outside && !drops_undefined(meeting)) note(outside, OUTSIDE_MASK, 0);
  if (unsigned read = mask & ~running & sources) note(read, READ, 0);
  else if (unsigned ended = mask & ~running & there) note(ended, ENDED, 0);
  for (int lane = first + 1; lane < 32; lane++) {
    if (!(arrived >> lane & 1) || meeting.site[lane] == meeting.site[first]) continue;
    unsigned apart = 0;
    for (int l = 0; l < 32; l++) if (arrived >> l & 1 && meeting.site[l] == meeting.site[lane]) apart |= 1u << l;
    note(apart, APART, meeting.site[lane]);
  }
}

bool is_complete(const Block& block, int warp, const Meeting& meeting) {
  unsigned wanted = meeting.mask & lanes_with_threads(block, warp, true);
  return meeting.arrived && (meeting.arrived & wanted) == wanted;
}

void release_warp(Block& block, int warp, size_t index) {
  Meeting& meeting = block.meetings[warp][index];
  note_mask_faults(block, warp, meeting);
  meeting.present[meeting.generation & 1] = meeting.arrived;
  meeting.generation++;
  meeting.arrived = 0;
  for (int lane = 0; lane < 32 && warp * 32 + lane < threads_per_block; lane++) {
    Fiber& fiber = block.fibers[warp * 32 + lane];
    if (fiber.state == AT_WARP && fiber.slot == index) fiber.state = READY;
  }
}

// Wait for the lanes of the mask; return the meeting's values and the lanes that came.
const uint64_t* meet(void* pc, unsigned mask, uint64_t value, int source, uint32_t part, uint64_t reach, unsigned* present, uint32_t gate = 0) {
  Fiber* fiber = now;
  Block& block = *block_now;
  if (order != SEQUENTIAL) yield_turn();
  int warp = fiber->number / 32;
  arrive(pc, 1, reach, part);
  if (!(mask >> fiber->lane & 1)) {
    Quiet quiet;
    mask_faults.push_back({block.number, (uint32_t)warp, site_of(pc), mask, 1u << fiber->lane,
                           (uint32_t)(rows_before + (row - rows)), UNNAMED, 0});
    static uint64_t own[32];
    own[fiber->lane] = value;
    *present = 1u << fiber->lane;
    return own;
  }
  auto& list = block.meetings[warp];
  size_t index = 0;
  while (index < list.size() && (list[index].mask != mask || list[index].gate != gate)) index++;
  if (index == list.size()) {
    Quiet quiet;
    list.emplace_back();
    list[index].mask = mask;
    list[index].gate = gate;
  }
  uint32_t generation = list[index].generation;
  list[index].value[generation & 1][fiber->lane] = value;
  list[index].site[fiber->lane] = site_of(pc);
  list[index].source[fiber->lane] = source;
  list[index].arrived |= 1u << fiber->lane;
  fiber->slot = index;
  if (is_complete(block, warp, list[index])) {
    release_warp(block, warp, index);
  } else {
    fiber->state = AT_WARP;
    yield_to_host();
  }
  *present = block.meetings[warp][index].present[generation & 1];
  return block.meetings[warp][index].value[generation & 1];
}

// --- shared memory of several blocks

void fill_poison(char* memory, size_t size, int width) {
  Quiet quiet;
  static const unsigned char two[] = {0xA5, 0x7F}, four[] = {0xA5, 0xA5, 0xE5, 0x7F},
                             eight[] = {0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xFD, 0x7F};
  const unsigned char* pattern = width == 2 ? two : width == 4 ? four : eight;
  if (width != 2 && width != 4 && width != 8) memset(memory, 0xA5, size);
  else for (size_t i = 0; i < size; i++) memory[i] = pattern[i % width];
}

int dynamic_poison_width;

void poison_shared() {
  if (shared_high > shared_low) memset(shared_base + shared_low, 0xA5, shared_high - shared_low);
  for (auto& poison : shared_poison) fill_poison(shared_base + poison.offset, poison.size, poison.width);
  fill_poison(tilescope_dynamic, dynamic_size, dynamic_poison_width);
}

void select_block(Block* next) {
  if (block_now == next) return;
  complete_store();  // its address may soon belong to another block
  if (block_now && resident.size() > 1) {
    memcpy(block_now->shared.data(), shared_base + shared_low, block_now->shared.size());
    memcpy(block_now->dynamic.data(), tilescope_dynamic, dynamic_size);
  }
  block_now = next;
  if (next && resident.size() > 1) {
    memcpy(shared_base + shared_low, next->shared.data(), next->shared.size());
    memcpy(tilescope_dynamic, next->dynamic.data(), dynamic_size);
  }
  if (next) {
    tilescope_blockIdx_x = next->number % tilescope_gridDim_x;
    tilescope_blockIdx_y = next->number / tilescope_gridDim_x % tilescope_gridDim_y;
    tilescope_blockIdx_z = next->number / tilescope_gridDim_x / tilescope_gridDim_y;
  }
}

// --- running

void thread_main() {
  try {
    body(closure);
  } catch (...) {
    uint32_t site = now->latest ? site_of(now->latest) : UINT32_MAX;
    if (!fault.type) fault = {0, site, block_now->number, now->number, 0, 0, "Exception"};
  }
  complete_store();
  now->state = DONE;
  block_now->alive--;
  yield_to_host();
  __builtin_trap();
}

void begin_block(Block& block, uint32_t number, size_t place) {
  block.number = number;
  block.alive = threads_per_block;
  block.waiting = block.grid_waiting = 0;
  memset(block.votes, 0, sizeof block.votes);
  block.meetings.assign((threads_per_block + 31) / 32, {});
  static size_t guarded;  // stacks with a part at their end that can't be accessed: one that is too deep ends there
  for (; !has_small_stacks && guarded < (place + 1) * threads_per_block; guarded++) mprotect(stacks + STACK * guarded, GUARD, PROT_NONE);
  unsigned width = tilescope_blockDim_x, height = tilescope_blockDim_y;
  for (int i = 0; i < threads_per_block; i++) {
    Fiber& fiber = block.fibers[i];
    fiber = Fiber{};
    fiber.number = i;
    fiber.lane = i & 31;
    fiber.x = i % width, fiber.y = i / width % height, fiber.z = i / width / height;
    size_t end = place * threads_per_block + i + 1;
    void** top = (void**)(stacks + (has_small_stacks ? STACK * MOST_THREADS + SMALL_STACK * end : STACK * end) - end % 64 * 64 - 72);
    top[0] = nullptr;  // the return address of `thread_main`, 8 below a multiple of 16
#if defined(__x86_64__)
    *--top = (void*)thread_main;
    top -= SAVED_REGISTERS;
    memset(top, 0, SAVED_REGISTERS * sizeof(void*));
#else
    top -= 1 + SAVED_REGISTERS;  // a multiple of 16
    memset(top, 0, SAVED_REGISTERS * sizeof(void*));
    top[11] = (void*)thread_main;  // x30
#endif
    fiber.stack_pointer = top;
  }
  select_block(nullptr);
  poison_shared();
  if (resident.size() > 1) {
    block.shared.assign(shared_base + shared_low, shared_base + shared_high);
    block.dynamic.assign(tilescope_dynamic, tilescope_dynamic + dynamic_size);
  }
}

uint64_t next_random() {  // xorshift64*, Vigna 2016
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 0x2545F4914F6CDD1Dull;
}

// Let a thread run up to its next access or wait, and in lockstep those behind it. Return the last one that ran.
int run_turn(Block& block, Fiber& first) {
  select_block(&block);
  begin_turn(first);
  tilescope_switch(&host_stack_pointer, first.stack_pointer);
  Fiber& fiber = *now;
  now = nullptr;
  if (fiber.state == DONE) {  // operations that waited only for it are complete
    auto& list = block.meetings[fiber.number / 32];
    for (size_t i = 0; i < list.size(); i++) {
      if (is_complete(block, fiber.number / 32, list[i])) release_warp(block, fiber.number / 32, i);
    }
  }
  if (block.alive && block.waiting == block.alive) release_barrier(block);
  return fiber.number;
}

bool release_grid_barrier() {
  int alive = 0, waiting = 0;
  for (auto& block : resident) alive += block.alive, waiting += block.grid_waiting;
  if (!waiting || waiting < alive) return false;
  for (auto& block : resident) {
    for (int i = 0; i < threads_per_block; i++) {
      Fiber& fiber = block.fibers[i];
      if (fiber.state == AT_GRID_BARRIER) fiber.state = READY, fiber.phase++;
    }
    block.grid_waiting = 0;
  }
  return true;
}

// Complete a warp operation whose missing lanes can't come; return whether there was one.
bool release_stuck_warp() {
  for (auto& block : resident) {
    for (size_t warp = 0; warp < block.meetings.size(); warp++) {
      for (size_t i = 0; i < block.meetings[warp].size(); i++) {
        if (block.meetings[warp][i].arrived) {
          release_warp(block, warp, i);
          return true;
        }
      }
    }
  }
  return false;
}

// Run threads up to a barrier at once, unless the kernel may depend on the order.
void run_fast() {
  if (!has_volatile) order = SEQUENTIAL;
}

// Number the phases of the running blocks for counted rows: those of the first phase, then of the second.
void number_blocks() {
  number_step = 0;
  for (auto& block : resident) if (block.alive) block.first_number = number_step++;
  if (!number_step) number_step = 1;
}

// Let all blocks run again, which loses the accesses of those that were paused.
void resume_blocks() {
  if (!are_paused) return;
  for (auto& block : resident) block.is_paused = false;
  are_paused = false;
  is_lost = true;
}

// The context below which counted rows are complete: no thread makes another access there.
uint64_t complete_context() {
  uint64_t complete = UINT32_MAX;
  for (auto& block : resident) {
    if (!block.alive) continue;
    for (int i = 0; i < threads_per_block; i++) {
      Fiber& fiber = block.fibers[i];
      if (fiber.state != READY && fiber.state != AT_WARP) continue;
      uint64_t context = (uint64_t)(block.first_number + fiber.phase * number_step) * threads_per_block + i / 32 * 32;
      if (context < complete) complete = context;
      break;  // those behind it are of the same phase, or of a later one
    }
  }
  return complete;
}

// Give the running blocks `patience` seconds of CPU time until the next of them ends.
void restart_timer(double seconds) {
  if (patience <= 0 || control < 0) return;
  itimerval timer{};
  timer.it_value.tv_sec = (time_t)seconds;
  timer.it_value.tv_usec = (suseconds_t)((seconds - (time_t)seconds) * 1e6);
  timer.it_interval.tv_usec = 10000;  // again, if it came between two turns
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

// Number the block that runs as the n-th.
uint32_t block_number(uint64_t n) {
  if (!chosen_blocks.empty()) return chosen_blocks[n];
  return sampled ? (grid_blocks - 1) * n / (sampled - 1) : n;
}

// Run `end` blocks, as many at once as `resident` holds.
void run_blocks(uint32_t end) {
  uint32_t& next = begun;
  for (size_t i = 0; i < resident.size(); i++) {
    if (next < end) begin_block(resident[i], block_number(next++), i);
    else resident[i].alive = 0;
  }
  number_blocks();
  std::vector<std::pair<uint32_t, uint32_t>> ready;
  for (;;) {
    if (fault.type) return;
    bool has_moved = false, is_alive = false;
    if (order == RANDOM) {
      ready.clear();
      for (uint32_t b = 0; b < resident.size(); b++) {
        if (!resident[b].alive || resident[b].is_paused) continue;
        for (int i = 0; i < threads_per_block; i++) {
          if (resident[b].fibers[i].state == READY) ready.push_back({b, (uint32_t)i});
        }
      }
      // One sweep in a random sequence of threads, each for a random number of accesses.
      for (size_t turns = ready.size(); turns; turns--) {
        auto& pick = ready[next_random() % ready.size()];
        Fiber& fiber = resident[pick.first].fibers[pick.second];
        has_moved = true;
        for (uint64_t length = 1 + next_random() % 4; length && fiber.state == READY && !resident[pick.first].is_paused; length--) {
          run_turn(resident[pick.first], fiber);
        }
        if (fault.type) break;
      }
    } else {
      for (auto& block : resident) {
        if (!block.alive) continue;
        for (int i = 0; i < threads_per_block && !block.is_paused; i++) {
          Fiber& fiber = block.fibers[i];
          if (fiber.state != READY) continue;
          has_moved = true;
          i = run_turn(block, fiber);
          if (fault.type) break;
        }
        if (fault.type) break;
      }
    }
    if (fault.type) return;
    for (size_t i = 0; i < resident.size(); i++) {
      if (!resident[i].alive && next < end && !is_counting && !are_paused) begin_block(resident[i], block_number(next++), i), restart_timer(patience);
      is_alive |= resident[i].alive > 0;
    }
    if (!is_alive && next >= end) return;
    if (is_recording && recorded_below != UINT32_MAX) {  // once the recorded blocks have ended, the others may run fast
      bool is_any_recorded = false;
      for (auto& block : resident) is_any_recorded |= block.alive && block.number < recorded_below;
      if (!is_any_recorded && are_paused) {  // the answer is to count the others
        hand_over(false);
        restart_timer(patience);
        continue;
      }
      if (!is_any_recorded) is_recording = false, run_fast();
    }
    if (is_counting && !is_alive) {  // the blocks that were resident have ended
      uint32_t next_phase = 0;
      for (int i = 0; i < threads_per_block; i++) {
        uint32_t after = resident[0].first_number + resident[0].fibers[i].phase + 1;
        if (after > next_phase) next_phase = after;
      }
      if (number_step > 1 || row - rows > (ptrdiff_t)COUNTED_BETWEEN_BLOCKS || next_phase > MOST_NUMBERS) hand_over(false), next_phase = 0;
      begin_block(resident[0], block_number(next++), 0), restart_timer(patience);
      resident[0].first_number = next_phase, number_step = 1;
      continue;
    }
    if (!has_moved && are_paused) {  // the recorded blocks wait for the others
      resume_blocks();
      continue;
    }
    if (!has_moved && !release_grid_barrier() && !release_stuck_warp()) {
      fault.type = "Deadlock";
      fault.block = resident[0].number;
      for (auto& block : resident) {
        if (!block.alive) continue;
        for (int i = 0; i < threads_per_block; i++) {
          if (block.fibers[i].state != DONE) {
            fault.block = block.number, fault.thread = i;
            return;
          }
        }
      }
    }
  }
}

// --- the connection

int find_image(struct dl_phdr_info* info, size_t, void*) {
  for (int k = 0; k < info->dlpi_phnum; k++) {
    auto& part = info->dlpi_phdr[k];
    if (part.p_type == PT_TLS) {
      shared_base = (char*)info->dlpi_tls_data;
      if (!shared_high) shared_high = part.p_memsz;
    }
    uint64_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_RELRO && begin + part.p_memsz > writable_low) writable_low = begin + part.p_memsz;
    if (part.p_type == PT_LOAD) {
      if (part.p_flags & PF_W) {
        if (begin > writable_low) writable_low = begin;
        writable_high = begin + part.p_memsz;
      }
      if (!image_low || begin < image_low) image_low = begin;
      if (begin + part.p_memsz > image_high) image_high = begin + part.p_memsz;
    }
  }
  image_base = info->dlpi_addr;
  return 1;  // the program itself comes first
}

void* reserve(size_t size, int file) {
  int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "tilescope: there is no memory for the program's accesses; close other programs.\n");
    _exit(112);
  }
  return memory;
}

int shared_file(const char* name, size_t size) {
  int file = memfd_create(name, MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, size)) return -1;
  return file;
}

void send_hello(int arena_file, int rows_file, int arrivals_file) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n > 0 ? n : 0] = 0;
  std::string text = "{\"event\":\"hello\",\"program\":" + quoted(path);
  text += format(",\"pid\":%d,\"arena\":%llu,\"dynamic\":%llu,\"shared\":%llu,\"base\":%llu,\"rows\":%llu}\n", getpid(),
                 (unsigned long long)arena, (unsigned long long)tilescope_dynamic, (unsigned long long)shared_base,
                 (unsigned long long)image_base, (unsigned long long)capacity);
  int files[3] = {arena_file, rows_file, arrivals_file};
  char space[CMSG_SPACE(sizeof files)] = {};
  iovec piece{(void*)text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof files);
  memcpy(CMSG_DATA(header), files, sizeof files);
  if (sendmsg(control, &message, MSG_NOSIGNAL) < 0) _exit(111);
}

const char* words_at;
long long next_number() {
  char* end;
  long long value = strtoll(words_at, &end, 10);
  words_at = end;
  return value;
}

// Report what ends the program, with its callers. It allocates nothing, because the heap may be corrupt.
void send_crash(int number, uint64_t pc, Fiber* fiber, bool is_overflow) {
  static char text[4096];
  void* frames[64];
  int count = backtrace(frames, 64);
  int n = snprintf(text, sizeof text, "{\"event\":\"crash\",\"signal\":%d,\"in_kernel\":%d,\"overflow\":%d,\"block\":%u,\"thread\":%d,\"pcs\":[%llu",
                   number, fiber != nullptr, is_overflow, block_now ? block_now->number : 0, fiber ? fiber->number : 0, (unsigned long long)(pc - image_base));
  for (int i = 0; i < count; i++) n += snprintf(text + n, sizeof text - n, ",%llu", (unsigned long long)frames[i] - image_base);
  n += snprintf(text + n, sizeof text - n, "]}\n");
  char answer;
  if (send(control, text, n, MSG_NOSIGNAL) == n) while (recv(control, &answer, 1, 0) == 1 && answer != '\n') {}
}

void say_goodbye() {
  if (control < 0 || has_left) return;
  has_left = true;
  if (in_launch && now) {  // the kernel called exit
    send_crash(0, image_base, now, false);
    return;
  }
  std::string text = "{\"event\":\"goodbye\",\"leaks\":[";
  bool is_first = true;
  for (auto& allocation : allocations) {
    if (!allocation.is_live || allocation.kind != 0 || allocation.address == (uint64_t)heap) continue;
    text += format("%s[%llu,%llu]", is_first ? "" : ",", (unsigned long long)allocation.pc, (unsigned long long)allocation.size);
    is_first = false;
  }
  text += "],\"frees\":[";
  for (size_t i = 0; i < wrong_frees.size(); i++) text += format("%s%llu", i ? "," : "", (unsigned long long)wrong_frees[i]);
  send_text(text + "]}\n");
  receive_line();
}

// End a launch that does not end: hand over what it did so far.
[[noreturn]] void leave_endless(Fiber* fiber) {
  bool has_error = fault.type;
  if (!has_error) fault = {0, site_of(fiber->latest), block_now ? block_now->number : 0, fiber->number, 0, 0, "Endless"};
  has_left = true;
  hand_over(true);
  _exit(113);
}

void check_time(int, siginfo_t*, void* context) {
  // A block takes longer than its limit: name the line that runs now.
  Fiber* fiber = now;
  if (!in_launch || !fiber || has_left) return;
  Quiet quiet;
  uint64_t pc = 0;
#if defined(__x86_64__)
  pc = ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
#else
  pc = ((ucontext_t*)context)->uc_mcontext.pc;
#endif
  std::string text = format("{\"event\":\"endless\",\"pcs\":[%llu", (unsigned long long)(pc - image_base + 1));
  // The callers, in case the signal came in this runtime or a library, which may keep no frames.
  void* callers[24];
  int count = backtrace(callers, 24);
  for (int i = 0; i < count; i++) text += format(",%llu", (unsigned long long)callers[i] - image_base);
  uint64_t* frame = nullptr;
#if defined(__x86_64__)
  frame = (uint64_t*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RBP];
#else
  frame = (uint64_t*)((ucontext_t*)context)->uc_mcontext.regs[29];
#endif
  for (int depth = 0; depth < 16; depth++) {
    uint64_t where = (uint64_t)frame;
    if (where - (uint64_t)stacks >= STACKS || where & 7) break;
    if (!frame[1]) break;
    text += format(",%llu", (unsigned long long)(frame[1] - image_base));
    frame = (uint64_t*)frame[0];
  }
  if (fiber->latest) text += format(",%llu", (unsigned long long)fiber->latest - image_base);
  text += format("],\"block\":%u,\"thread\":%d,\"accesses\":%llu}\n", block_now ? block_now->number : 0,
                 fiber->number, (unsigned long long)(rows_before + (row - rows)));
  send_text(text);
  receive_line();
  leave_endless(fiber);
}

void report_crash(int number, siginfo_t* info, void* context) {
  Fiber* fiber = now;
  Quiet quiet;
  uint64_t pc = 0;
#if defined(__x86_64__)
  pc = ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
#else
  pc = ((ucontext_t*)context)->uc_mcontext.pc;
#endif
  if (control >= 0 && !has_left) {
    has_left = true;
    uint64_t address = (uint64_t)info->si_addr, top;
#if defined(__x86_64__)
    top = ((ucontext_t*)context)->uc_mcontext.gregs[REG_RSP];
#else
    top = ((ucontext_t*)context)->uc_mcontext.sp;
#endif
    bool is_overflow = number == SIGSEGV && (fiber ? address - (uint64_t)stacks < STACKS : address - top + 65536 < 131072);
    send_crash(number, pc + 1, fiber, is_overflow);
  }
  signal(number, SIG_DFL);
  raise(number);
}

// A process that `fork` made has no GPU: CUDA's calls fail in it (cudaErrorInitializationError).
void leave_to_parent() {
  if (control >= 0) close(control);
  control = -1;
  sticky_error = 3;
}

void watch_signals() {
  void* frame;
  backtrace(&frame, 1);  // loads a library, which a signal's handler must not
  pthread_atfork(nullptr, nullptr, leave_to_parent);
  static char stack[1 << 16];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  action.sa_sigaction = report_crash;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
  action.sa_sigaction = check_time;
  sigaction(SIGVTALRM, &action, nullptr);
}

void connect_session() {
  const char* path = getenv("TILESCOPE_CUDA_SESSION");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path && strlen(path) < sizeof address.sun_path) {
    strcpy(address.sun_path, path);
    control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(control, (sockaddr*)&address, sizeof address)) close(control), control = -1;
  }
}

bool is_started;

void start() {
  if (is_started) return;
  is_started = true;
  dl_iterate_phdr(find_image, nullptr);
  connect_session();
  int arena_file = -1, rows_file = -1, arrivals_file = -1;
  capacity = 12000000;  // as many as are kept, see `Limits`
  recorded_at_once = capacity += 1 << 16;
  if (control >= 0) {
    const char* given = getenv("TILESCOPE_CUDA_MEMORY");  // the file of a program in Python, which holds its device memory
    arena_file = given ? atoi(given) : shared_file("tilescope-memory", ARENA);
    if (given) arena = (char*)mmap((void*)TILESCOPE_DEVICE_MEMORY, ARENA, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, arena_file, 0);
    rows_file = shared_file("tilescope-rows", capacity * sizeof(Row));
    arrivals_file = shared_file("tilescope-arrivals", MOST_ARRIVALS * sizeof(Arrival));
  }
  if (arena == MAP_FAILED) _exit(112);
  if (!arena) arena = (char*)reserve(ARENA, arena_file);
  arena_next = arena + 2 * GAP;
  last_written = (uint32_t*)reserve(ARENA, -1), last_read = (uint32_t*)reserve(ARENA, -1);
  rows = row = (Row*)reserve(capacity * sizeof(Row), rows_file);
  arrivals = (Arrival*)reserve(MOST_ARRIVALS * sizeof(Arrival), arrivals_file);
  stacks = (char*)reserve(STACKS, -1);
  wanted_order = SEQUENTIAL;
  resident_wanted = 0;
  if (control < 0) return;
  send_hello(arena_file, rows_file, arrivals_file);
  close(arena_file), close(rows_file), close(arrivals_file);
  std::string reply = receive_line();
  words_at = reply.c_str();
  wanted_order = (Order)next_number();
  random_state = next_number() * 2 + 0x9E3779B97F4A7C15ull;
  resident_wanted = next_number();
  patience = next_number() / 1000.0;
  shared_low = next_number(), shared_high = next_number();
  for (long long n = next_number(); n > 0; n--) {
    uint64_t offset = next_number(), size = next_number();
    shared_poison.push_back({offset, size, (int)next_number()});
  }
  dynamic_poison_width = next_number();
  for (auto list : {&symbols, &constants}) {
    for (long long n = next_number(); n > 0; n--) {
      uint64_t offset = next_number();
      list->push_back({offset, (uint64_t)next_number()});
    }
  }
  recorded_at_once = next_number();
  if (recorded_at_once > capacity) recorded_at_once = capacity;
  watch_signals();
  atexit(say_goodbye);
}

// Count all rows from now on.
void start_counting() {
  is_counting = true;
  are_paused = false;
  for (auto& block : resident) block.is_paused = false;
  recorded_below = UINT32_MAX;
  rows_end = rows + (COUNTED_AT_ONCE < capacity ? COUNTED_AT_ONCE : capacity);
  run_fast();
}

void hand_over(bool is_end) {
  complete_store();
  Quiet quiet;
  std::string text = format("{\"event\":\"%s\",\"rows\":%llu,\"arrivals\":%llu,\"sites\":[", is_end ? "ended" : "rows",
                            (unsigned long long)(row - rows), (unsigned long long)arrival_count);
  for (size_t i = sites_sent; i < sites.size(); i++) text += format("%s%llu", i > sites_sent ? "," : "", (unsigned long long)sites[i]);
  sites_sent = sites.size();
  int alive = 0;
  for (auto& block : resident) alive += block.alive > 0;
  text += format("],\"done\":%u,\"complete\":%llu,\"is_lost\":%s,\"running\":[", begun - alive, (unsigned long long)complete_context(), is_lost ? "true" : "false");
  bool is_first = true;
  if (!is_end) {
    for (auto& block : resident) {
      if (!block.alive) continue;
      text += format("%s%u", is_first ? "" : ",", block.number);
      is_first = false;
    }
  }
  text += "]";
  if (is_end) {
    text += ",\"faults\":[";
    for (size_t i = 0; i < mask_faults.size(); i++) {
      auto& f = mask_faults[i];
      text += format("%s[%u,%u,%u,%u,%u,%u,%u,%u]", i ? "," : "", f.block, f.warp, f.site, f.mask, f.missing, f.row, f.why, f.other);
    }
    text += "]";
    if (fault.type) {
      text += format(",\"error\":{\"type\":\"%s\",\"address\":%llu,\"site\":%u,\"block\":%u,\"thread\":%d,\"size\":%d,\"operation\":%d}",
                     fault.type, (unsigned long long)fault.address, fault.site, fault.block, fault.thread, fault.size, fault.operation);
    }
  }
  send_text(text + "}\n");
  std::string reply = receive_line();
  if (reply == "stop") is_recording = false;
  if (reply == "count" || reply == "stop") start_counting(), number_blocks();
  if (reply == "misaligned") sticky_error = 716;
  if (reply == "endless" && now) {  // it makes accesses without end, which take longer to count than to run
    send_text(format("{\"event\":\"endless\",\"pcs\":[%llu]}\n", now->latest ? (unsigned long long)now->latest - image_base : 0ull));
    receive_line();
    rows_before += row - rows;
    row = rows;
    arrival_count = 0;
    leave_endless(now);
  }
  if (reply.compare(0, 5, "keep ") == 0) {
    recorded_below = strtoul(reply.c_str() + 5, nullptr, 10);
    for (auto& block : resident) {
      if (block.alive && block.number >= recorded_below && !is_lost) block.is_paused = are_paused = true;
    }
  }
  rows_before += row - rows;
  row = rows;
  arrival_count = 0;
}

}  // namespace

// --- what the compiler calls

extern "C" {
#define TILESCOPE_PC __builtin_return_address(0)
#define ACCESSES(n)                                                                             \
  void __tsan_read##n(void* a) { record(TILESCOPE_PC, a, n, TILESCOPE_LOAD); }                  \
  void __tsan_write##n(void* a) { record(TILESCOPE_PC, a, n, TILESCOPE_STORE); }                \
  void __tsan_unaligned_read##n(void* a) { record(TILESCOPE_PC, a, n, TILESCOPE_LOAD); }        \
  void __tsan_unaligned_write##n(void* a) { record(TILESCOPE_PC, a, n, TILESCOPE_STORE); }      \
  void __tsan_volatile_read##n(void* a) { note_volatile(); record(TILESCOPE_PC, a, n, TILESCOPE_LOAD); }                \
  void __tsan_volatile_write##n(void* a) { record(TILESCOPE_PC, a, n, TILESCOPE_STORE); }       \
  void __tsan_unaligned_volatile_read##n(void* a) { record(TILESCOPE_PC, a, n, TILESCOPE_LOAD); }   \
  void __tsan_unaligned_volatile_write##n(void* a) { record(TILESCOPE_PC, a, n, TILESCOPE_STORE); } \
  void __tsan_unaligned_read_write##n(void* a) {                                                \
    record(TILESCOPE_PC, a, n, TILESCOPE_LOAD);                                                 \
    record(TILESCOPE_PC, a, n, TILESCOPE_STORE);                                                \
  }                                                                                             \
  void __tsan_read_write##n(void* a) {                                                          \
    record(TILESCOPE_PC, a, n, TILESCOPE_LOAD);                                                 \
    record(TILESCOPE_PC, a, n, TILESCOPE_STORE);                                                \
  }
ACCESSES(1) ACCESSES(2) ACCESSES(4) ACCESSES(8) ACCESSES(16)
void __tsan_read_range(void* a, size_t n) { if (now) record_range(TILESCOPE_PC, a, n, TILESCOPE_LOAD); }
void __tsan_write_range(void* a, size_t n) { if (now) record_range(TILESCOPE_PC, a, n, TILESCOPE_STORE); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_external_read(void*, void*, void*) {}
void __tsan_external_write(void*, void*, void*) {}
void* __tsan_memcpy(void* to, const void* from, size_t n) {
  if (!now) {
    check_host_range(TILESCOPE_PC, from, n, false);
    check_host_range(TILESCOPE_PC, to, n, true);
    return memmove(to, from, n);
  }
  copy_recorded(TILESCOPE_PC, to, from, n);
  return to;
}
// Compilers call memcpy for copies of structures. It is hidden: libraries call their own.
__attribute__((visibility("hidden"))) void* memcpy(void* to, const void* from, size_t n) {
  if (now) {
    if ((uint64_t)from - (uint64_t)closure < closure_size) return memmove(to, from, n);  // the launch's arguments
    copy_recorded(TILESCOPE_PC, to, from, n);
    return to;
  }
  check_host_range(TILESCOPE_PC, from, n, false);
  check_host_range(TILESCOPE_PC, to, n, true);
  return memmove(to, from, n);
}
__attribute__((visibility("hidden"))) void* memset(void* to, int value, size_t n) {
  if (now) record_range(TILESCOPE_PC, to, n, TILESCOPE_STORE);
  else check_host_range(TILESCOPE_PC, to, n, true);
  static void* (*fill)(void*, int, size_t) = (void* (*)(void*, int, size_t))dlsym(RTLD_NEXT, "memset");
  return fill(to, value, n);
}
// Kernels print by turns, as a warp does: the first line of all its threads comes before the second of any.
static void begin_print() {
  if (now && order == LOCKSTEP) yield_turn();
}
__attribute__((visibility("hidden"))) int printf(const char* pattern, ...) {
  begin_print();
  Quiet quiet;
  va_list list;
  va_start(list, pattern);
  int count = vfprintf(stdout, pattern, list);
  va_end(list);
  return count;
}
// g++ calls these for printf; the headers define some of their names.
__attribute__((visibility("hidden"))) int tilescope_puts(const char* text) __asm__("puts");
__attribute__((visibility("hidden"))) int tilescope_putchar(int letter) __asm__("putchar");
int tilescope_puts(const char* text) {
  begin_print();
  Quiet quiet;
  return fputs(text, stdout) < 0 || fputc('\n', stdout) == EOF ? EOF : 1;
}
int tilescope_putchar(int letter) {
  begin_print();
  Quiet quiet;
  return fputc(letter, stdout);
}
// `malloc` and `new` in kernels. Libraries call their own.
__attribute__((visibility("hidden"))) void* tilescope_malloc(size_t size) __asm__("malloc");
__attribute__((visibility("hidden"))) void tilescope_release(void* pointer) __asm__("free");
void* tilescope_malloc(size_t size) {
  if (now) return allocate_piece(size);
  static void* (*allocate)(size_t) = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  return allocate(size);
}
void tilescope_release(void* pointer) {
  if (free_piece(pointer)) return;
  static void (*release)(void*) = (void (*)(void*))dlsym(RTLD_NEXT, "free");
  release(pointer);
}
void* tilescope_keep(const void* bytes, size_t size) {
  Quiet quiet;
  return memmove(tilescope_malloc(size), bytes, size);
}
void tilescope_set_heap(size_t size) {
  if (!heap && size < ARENA / 4) heap_size = size;
}
void* __tsan_memmove(void* to, const void* from, size_t n) {
  if (!now || (char*)to > (char*)from) return memmove(to, from, n);
  copy_recorded(TILESCOPE_PC, to, from, n);
  return to;
}
void* __tsan_memset(void* to, int value, size_t n) {
  if (now) record_range(TILESCOPE_PC, to, n, TILESCOPE_STORE);
  else check_host_range(TILESCOPE_PC, to, n, true);
  return memset(to, value, n);
}
void tilescope_memcpy(void* pc, void* to, const void* from, size_t n) {
  if (!now) memmove(to, from, n);
  else copy_recorded(pc, to, from, n);
}
// An index is outside an array of known dimensions; the access follows.
void __ubsan_handle_out_of_bounds(void*, uintptr_t) { if (now) now->is_outside = true; }
void __ubsan_handle_out_of_bounds_abort(void*, uintptr_t) { if (now) now->is_outside = true; }

void __tsan_atomic_thread_fence(int) { if (now) arrive(TILESCOPE_PC, 1, TILESCOPE_FENCE, 0); }
void __tsan_atomic_signal_fence(int) {}

#define EXCHANGES(bits, T)                                                                                       \
  T __tsan_atomic##bits##_load(const volatile T* a, int) {                                                       \
    record(TILESCOPE_PC, (void*)a, sizeof(T), TILESCOPE_ATOMIC);                                                 \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                                 \
  }                                                                                                              \
  void __tsan_atomic##bits##_store(volatile T* a, T v, int) {                                                    \
    record(TILESCOPE_PC, (void*)a, sizeof(T), TILESCOPE_ATOMIC);                                                 \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                                    \
  }                                                                                                              \
  T __tsan_atomic##bits##_exchange(volatile T* a, T v, int) {                                                    \
    record(TILESCOPE_PC, (void*)a, sizeof(T), TILESCOPE_ATOMIC);                                                 \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* a, T* e, T v, int, int) {                        \
    record(TILESCOPE_PC, (void*)a, sizeof(T), TILESCOPE_ATOMIC);                                                 \
    return __atomic_compare_exchange_n(a, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                      \
  }                                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* a, T* e, T v, int, int) {                          \
    record(TILESCOPE_PC, (void*)a, sizeof(T), TILESCOPE_ATOMIC);                                                 \
    return __atomic_compare_exchange_n(a, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                      \
  }                                                                                                              \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* a, T e, T v, int, int) {                              \
    record(TILESCOPE_PC, (void*)a, sizeof(T), TILESCOPE_ATOMIC);                                                 \
    __atomic_compare_exchange_n(a, &e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                            \
    return e;                                                                                                    \
  }
#define FETCHES(bits, T, name)                                                 \
  T __tsan_atomic##bits##_fetch_##name(volatile T* a, T v, int) {              \
    record(TILESCOPE_PC, (void*)a, sizeof(T), TILESCOPE_ATOMIC);               \
    return __atomic_fetch_##name(a, v, __ATOMIC_SEQ_CST);                      \
  }
#define ATOMICS(bits, T) \
  EXCHANGES(bits, T)     \
  FETCHES(bits, T, add) FETCHES(bits, T, sub) FETCHES(bits, T, and) FETCHES(bits, T, or) FETCHES(bits, T, xor) FETCHES(bits, T, nand)
ATOMICS(8, uint8_t) ATOMICS(16, uint16_t) ATOMICS(32, uint32_t) ATOMICS(64, uint64_t)

// --- what the headers call

int tilescope_in_kernel() { return now != nullptr; }

void tilescope_access(void* pc, const void* address, int size, int operation) { record(pc, address, size, operation); }

int tilescope_barrier(void* pc, int kind, int value) {
  if (!now) return 0;
  if (order != SEQUENTIAL) yield_turn();
  Block& block = *block_now;
  arrive(pc, 0, 0, 0);
  block.votes[0] += value != 0;
  block.votes[1] += value == 0;
  now->state = AT_BARRIER;
  block.waiting++;
  yield_to_host();
  Block& after = *block_now;
  return kind == TILESCOPE_COUNT ? after.results[0] : kind == TILESCOPE_AND ? after.results[1] == 0 : after.results[0] != 0;
}

void tilescope_grid_barrier(void* pc) {
  if (!now) return;
  arrive(pc, 0, 1, 0);
  now->state = AT_GRID_BARRIER;
  block_now->grid_waiting++;
  yield_to_host();
}

void tilescope_fence(void* pc, int is_block) {
  if (now) arrive(pc, 1, is_block ? TILESCOPE_FENCE_BLOCK : TILESCOPE_FENCE, 0);
}

void tilescope_syncwarp(void* pc, unsigned mask) {
  unsigned present;
  if (now) meet(pc, mask, 0, -1, 0, mask, &present);
}

uint64_t tilescope_shuffle(void* pc, unsigned mask, uint64_t value, int source) {
  if (!now) return value;
  unsigned present;
  int lane = now->lane, giver = source >= 0 && source < 32 ? source : lane;
  const uint64_t* values = meet(pc, mask, value, source, giver + 1, 0, &present);
  return source >= 0 && source < 32 && present >> source & 1 ? values[source] : value;
}

unsigned tilescope_vote(void* pc, unsigned mask, int predicate, unsigned* present) {
  if (!now) return 0;
  const uint64_t* values = meet(pc, mask, predicate != 0, -1, predicate ? 34 : 33, 0, present);
  unsigned lanes = 0;
  for (int lane = 0; lane < 32; lane++) {
    if (*present >> lane & 1 && values[lane]) lanes |= 1u << lane;
  }
  return lanes;
}

unsigned tilescope_match(void* pc, unsigned mask, uint64_t value, unsigned* present) {
  if (!now) return 0;
  const uint64_t* values = meet(pc, mask, value, -1, 35, 0, present);
  unsigned lanes = 0;
  for (int lane = 0; lane < 32; lane++) {
    if (*present >> lane & 1 && values[lane] == value) lanes |= 1u << lane;
  }
  return lanes;
}

uint64_t tilescope_combine(void* pc, unsigned mask, uint64_t value, uint64_t (*join)(uint64_t, uint64_t)) {
  if (!now) return value;
  unsigned present;
  const uint64_t* values = meet(pc, mask, value, -1, 0, 0, &present);
  bool has_value = false;
  uint64_t result = value;
  for (int lane = 0; lane < 32; lane++) {
    if (!(present >> lane & 1)) continue;
    result = has_value ? join(result, values[lane]) : values[lane];
    has_value = true;
  }
  return result;
}

uint64_t tilescope_share(void* pc, unsigned mask, uint64_t value, uint64_t* values) {
  unsigned present = 1;
  const uint64_t* shared = now ? meet(pc, mask, value, -1, 0, 0, &present) : &value;
  for (int lane = 0; lane < 32; lane++) values[lane] = present >> lane & 1 ? shared[lane] : 0;
  return present;
}

unsigned tilescope_active() {
  // The lanes that run the same code can't be known; those that wait nowhere are the best answer.
  if (!now) return 1;
  unsigned lanes = 0;
  int warp = now->number / 32;
  for (int lane = 0; lane < 32 && warp * 32 + lane < threads_per_block; lane++) {
    if (block_now->fibers[warp * 32 + lane].state == READY) lanes |= 1u << lane;
  }
  return lanes | 1u << now->lane;
}

unsigned tilescope_converge(void* pc) {
  if (!now) return 1;
  unsigned present;
  meet(pc, 0xffffffffu, 0, -1, 0, 0, &present, site_of(pc) + 1);
  return present;
}

unsigned tilescope_lane() { return now ? now->lane : 0; }

unsigned tilescope_dynamic_size() { return dynamic_size; }

void tilescope_trap(void* pc, const char* type) {
  if (now) stop_thread(type, 0, pc, 0, 0);
  abort();
}

int tilescope_is_device(const void* pointer) {
  start();
  uint64_t address = (uint64_t)pointer;
  if (address - (uint64_t)arena >= ARENA) return 0;
  uint32_t number = allocation_of(address);
  return number && address - allocations[number - 1].address < allocations[number - 1].size ? 1 + allocations[number - 1].kind : 0;
}

void* tilescope_allocate(size_t size, int kind) {
  start();
  if (sticky_error || size > ARENA / 2 || arena_next + size + 2 * GAP > arena + ARENA) return nullptr;
  char* memory = arena_next;
  size_t filled = size < (64u << 20) ? size : 64u << 20;  // larger ones stay zero beyond, to save memory
  memset(memory, 0xA5, (filled + 63) / 64 * 64);
  arena_next += (size + 2 * GAP + 511) / 512 * 512;
  // The caller of cudaMalloc, which calls `tilescope_allocate_to` and this.
  uint64_t pc = (uint64_t)__builtin_return_address(2) - image_base;
  allocations.push_back({(uint64_t)memory, size, kind, true, kind != 0, pc, false});
  return memory;
}

void tilescope_adopt(uint64_t address, uint64_t size, int state) {
  start();
  allocations.push_back({address, size, 0, (state & 1) != 0, (state & 2) != 0, 0, false});
  arena_next = (char*)((address + size + 2 * GAP + 4095) / 4096 * 4096);
}

int tilescope_free(void* pointer) {
  if (!pointer) return 0;
  uint32_t number = allocation_of((uint64_t)pointer);
  if (!number || allocations[number - 1].address != (uint64_t)pointer || !allocations[number - 1].is_live) {
    wrong_frees.push_back((uint64_t)__builtin_return_address(1) - image_base);  // the caller of cudaFree
    return 1;
  }
  Allocation& freed = allocations[number - 1];
  freed.is_live = false;
  uint64_t page = sysconf(_SC_PAGESIZE), begin = (freed.address + page - 1) / page * page, end = (freed.address + freed.size) / page * page;
  if (end > begin) madvise((void*)begin, end - begin, control < 0 ? MADV_DONTNEED : MADV_REMOVE);  // addresses are not used again
  return 0;
}

uint64_t tilescope_size_of(const void* pointer) {
  Allocation* place = allocation_at(pointer);
  return place ? place->size - ((uint64_t)pointer - place->address) : 0;
}

void tilescope_touch(const void* pointer) {
  if (Allocation* place = allocation_at(pointer)) place->is_touched = true;
}

void tilescope_allow_host(const void* pointer) {
  if (Allocation* place = allocation_at(pointer)) place->has_host_references = true;
}

void tilescope_finish() { finish_work(); }

void tilescope_add_stream() { has_streams = true; }

void tilescope_order(const char* action, const void* stream, const void* event, const void* to, const void* from, size_t size) {
  if (!has_streams || control < 0 || now) return;
  Quiet quiet;
  send_text(format("{\"event\":\"order\",\"action\":\"%s\",\"stream\":%llu,\"key\":%llu,\"to\":%llu,\"source\":%llu,\"size\":%llu}\n", action,
                   (unsigned long long)(uintptr_t)stream, (unsigned long long)(uintptr_t)event, (unsigned long long)(uintptr_t)to,
                   (unsigned long long)(uintptr_t)from, (unsigned long long)size));
  receive_line();
}

void tilescope_wait() {
  finish_work();
  tilescope_order("host", nullptr, nullptr);
}

void tilescope_copy_without_waiting(const void* to, const void* from, size_t size) {
  if (!size) return;
  Allocation *target = allocation_at(to), *source = allocation_at(from);
  if (!target || !source) return;  // a copy from or to pageable memory waits
  begin_work("cudaMemcpyAsync");
  note_work(*target, (uint64_t)to, size, true);
  note_work(*source, (uint64_t)from, size, false);
}

int tilescope_is_symbol(const void* pointer) { return (uint64_t)pointer - image_low < image_high - image_low; }

int tilescope_space(const void* pointer) {
  uint64_t address = (uint64_t)pointer;
  if (address - (uint64_t)arena < ARENA || address - image_low < image_high - image_low) {
    return address - (uint64_t)tilescope_dynamic < TILESCOPE_MAX_SHARED;
  }
  if (address - (uint64_t)shared_base - shared_low < shared_high - shared_low) return 1;
  return address - (uint64_t)stacks < STACKS ? 2 : 3;
}

long long tilescope_clock() { return ticks++; }

void tilescope_allow_shared(int size) {
  if ((size_t)size > allowed_shared) allowed_shared = size;
}

int tilescope_error(int resets) {
  int error = sticky_error ? sticky_error : error_now;
  if (resets) error_now = 0;
  return error;
}

void tilescope_set_error(int error) { error_now = error; }
int tilescope_sticky_error() { return sticky_error; }

void tilescope_forget_errors() { error_now = sticky_error = 0; }

void tilescope_start() { start(); }

// A kernel that throws ends here: a GPU has no exceptions.
__attribute__((weak)) void* __cxa_allocate_exception(size_t size) noexcept(true) {
  if (now) stop_thread("Exception", 0, TILESCOPE_PC, 0, 0);
  static void* (*allocate)(size_t) = (void* (*)(size_t))dlsym(RTLD_NEXT, "__cxa_allocate_exception");
  return allocate(size);
}

// Replaces the C library's: an assertion that fails in a kernel ends the kernel and not the program.
[[noreturn]] void __assert_fail(const char* text, const char* file, unsigned line, const char* function) noexcept(true) {
  if (now) {
    printf("%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line, function, tilescope_blockIdx_x,
           tilescope_blockIdx_y, tilescope_blockIdx_z, now->x, now->y, now->z, text);
    stop_thread("Assertion", 0, TILESCOPE_PC, 0, 0);
  }
  fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, text);
  abort();
}

void tilescope_missing(const char* name, const char* file, int line) {
  start();
  Quiet quiet;
  fprintf(stderr, "%s:%d: Tilescope does not know %s\n", file, line, name);
  if (control >= 0 && !has_left) {
    send_text("{\"event\":\"missing\",\"name\":" + quoted(name) + ",\"file\":" + quoted(file) + format(",\"line\":%d}\n", line));
    receive_line();
    has_left = true;
  }
  _exit(114);
}

void tilescope_launch(const TilescopeLaunch* launch) {
  start();
  if (now) {  // a kernel launches another one: it runs once this one has ended
    Quiet quiet;
    queued.push_back({*launch, {}, {}});
    Queued& entry = queued.back();
    entry.pointers.assign(launch->pointers, launch->pointers + launch->count);
    for (int i = 0; i < launch->count; i++) entry.types.push_back(launch->types[i]);
    return;
  }
  const unsigned *g = launch->grid, *b = launch->block;
  uint64_t threads = (uint64_t)b[0] * b[1] * b[2], blocks = (uint64_t)g[0] * g[1] * g[2];
  if (sticky_error) return;
  bool is_refused = !threads || threads > 1024 || !blocks || b[0] > 1024 || b[1] > 1024 || b[2] > 64 || g[1] > 65535 ||
                    g[2] > 65535 || g[0] > 0x7fffffffu || launch->shared > allowed_shared;
  std::string text;
  if (control >= 0) {
    text = "{\"event\":\"" + std::string(is_refused ? "refused" : "launch") + "\",\"kernel\":" + quoted(launch->kernel) + ",\"file\":" + quoted(launch->file);
    text += format(",\"line\":%d,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%llu,\"cooperative\":%d,\"function\":%llu,\"arguments\":[", launch->line, g[0], g[1],
                   g[2], b[0], b[1], b[2], (unsigned long long)launch->shared, launch->is_cooperative,
                   (unsigned long long)(launch->function ? (uint64_t)launch->function - image_base : 0));
    for (int i = 0; i < launch->count; i++) {
      text += format("%s[%llu,", i ? "," : "", (unsigned long long)launch->pointers[i]) + quoted(launch->types[i]) + "]";
    }
    text += format("],\"stream\":%llu", (unsigned long long)(uintptr_t)launch->stream);
  }
  if (is_refused) {
    error_now = 1;  // what CUDA 13 reports, also for a block that is too large
    if (control >= 0) send_text(text + "}\n"), receive_line();
    return;
  }
  for (int i = 0; i < launch->count; i++) {  // memory that nothing has written holds the poison of its type
    uint32_t number = allocation_of((uint64_t)launch->pointers[i]);
    if (!launch->pointers[i] || !number) continue;
    Allocation& allocation = allocations[number - 1];
    if (allocation.is_touched || (uint64_t)launch->pointers[i] - allocation.address >= allocation.size) continue;
    int width = launch->types[i][0] == '<' && launch->types[i][1] == 'f' ? launch->types[i][2] - '0' : 0;
    size_t filled = allocation.size < (64u << 20) ? allocation.size : 64u << 20;
    if (width) fill_poison((char*)allocation.address, filled, width);
  }
  if (!heap) {
    allocations.push_back({(uint64_t)arena_next, heap_size, 0, true, true, HEAP_CALL, false});
    heap = heap_next = arena_next;
    arena_next += (heap_size + 2 * GAP + 511) / 512 * 512;
  }
  dl_iterate_phdr(find_image, nullptr);  // thread-local memory is another one in each host thread
  is_recording = control >= 0;
  bool is_counted = false;
  if (control >= 0) {
    text += ",\"allocations\":[";
    bool is_first = true;
    for (auto& allocation : allocations) {
      text += format("%s[%llu,%llu,%d,%llu]", is_first ? "" : ",", (unsigned long long)allocation.address,
                     (unsigned long long)allocation.size, allocation.is_live, (unsigned long long)allocation.pc);
      is_first = false;
    }
    text += format("],\"thread_memory\":%llu,\"symbols\":%d}\n", (unsigned long long)shared_base, (int)symbols.size());
    size_t at = 0;
    for (auto& symbol : symbols) {  // the contents of the program's variables, in the rows' memory
      memcpy((char*)rows + at, (char*)(image_base + symbol.offset), symbol.size);
      at += (symbol.size + 15) / 16 * 16;
    }
    send_text(text);
    std::string reply = receive_line();
    is_recording = reply != "no";
    is_counted = !reply.compare(0, 5, "count");
    chosen_blocks.clear();
    sampled = 0;
    if (is_recording) {  // how many blocks run, evenly from all, and the numbers of those that run instead of all
      words_at = reply.c_str() + reply.find(' ');
      sampled = next_number();
      for (long long n = next_number(); n > 0; n--) chosen_blocks.push_back(next_number());
      if (!chosen_blocks.empty()) blocks = chosen_blocks.size();
    }
    grid_blocks = blocks < UINT32_MAX ? blocks : UINT32_MAX;
    if (sampled) blocks = sampled;
  }
  begin_work(launch->kernel);
  threads_per_block = threads;
  dynamic_size = launch->shared;
  tilescope_blockDim_x = b[0], tilescope_blockDim_y = b[1], tilescope_blockDim_z = b[2];
  tilescope_gridDim_x = g[0], tilescope_gridDim_y = g[1], tilescope_gridDim_z = g[2];
  body = launch->run, closure = launch->closure, closure_size = launch->closure_size;
  is_counting = are_paused = is_lost = false;
  begun = 0;
  recorded_below = UINT32_MAX;
  has_volatile = false;
  order = wanted_order;
  rows_end = rows + recorded_at_once;
  if (is_counted) start_counting();
  row = rows, arrival_count = 0, rows_before = 0, pending = nullptr;
  mask_faults.clear();
  fault = {};
  fault.thread = -1;
  size_t fit = MOST_THREADS / threads, count = resident_wanted ? resident_wanted : fit;
  if (launch->is_cooperative) {  // as cudaOccupancyMaxActiveBlocksPerMultiprocessor computes it
    size_t by_threads = 2048 / threads, by_shared = launch->shared ? 233472 / (launch->shared + 1024) : 32;
    size_t on_one = by_threads < by_shared ? by_threads : by_shared;
    count = fit = MULTIPROCESSORS * (on_one < 32 ? on_one : 32);
  }
  count = count < fit ? count : fit;
  if (blocks < count) count = blocks;
  has_small_stacks = count * threads > MOST_THREADS;
  if (launch->is_cooperative && count < blocks) {
    error_now = 720;  // cudaErrorCooperativeLaunchTooLarge
    if (control >= 0) hand_over(true);
    return;
  }
  std::vector<Fiber> fibers(count * threads);
  block_now = nullptr;
  resident.clear();
  resident.resize(count);
  for (size_t i = 0; i < count; i++) resident[i].fibers = &fibers[i * threads];
  for (auto& entry : site_table) entry.allocation = 0;
  restart_timer(patience);
  in_launch = true;
  run_blocks(blocks);
  in_launch = false;
  now = nullptr;
  restart_timer(0);
  complete_store();
  block_now = nullptr;
  for (auto& allocation : allocations) allocation.is_touched |= allocation.is_live;
  if (fault.type) {
    sticky_error = !strcmp(fault.type, "MisalignedAddress") ? 716 : !strcmp(fault.type, "Assertion") ? 710
                   : !strcmp(fault.type, "Trap") || !strcmp(fault.type, "Deadlock") ? 719 : 700;
  }
  if (control >= 0) hand_over(true);
  resident.clear();
  if (has_small_stacks) madvise(stacks + STACK * MOST_THREADS, SMALL_STACK * MOST_COOPERATIVE, MADV_DONTNEED);
  while (!queued.empty() && !sticky_error) {
    Queued entry = std::move(queued.front());
    queued.pop_front();
    std::vector<const char*> types;
    for (auto& type : entry.types) types.push_back(type.c_str());
    entry.launch.pointers = entry.pointers.data();
    entry.launch.types = types.data();
    tilescope_launch(&entry.launch);
  }
}
}

// `operator new` and `delete`. They are weak, as a program may have its own.
#define TILESCOPE_OPERATOR(type, name, parameters, symbol) \
  type name parameters __asm__(symbol);                    \
  __attribute__((weak, visibility("hidden"))) type name parameters
extern "C" {
TILESCOPE_OPERATOR(void*, tilescope_new, (size_t size), "_Znwm") {
  void* memory = tilescope_malloc(size ? size : 1);
  if (!memory && !now) throw std::bad_alloc();
  return memory;
}
TILESCOPE_OPERATOR(void*, tilescope_new_array, (size_t size), "_Znam") { return tilescope_new(size); }
TILESCOPE_OPERATOR(void, tilescope_delete, (void* pointer), "_ZdlPv") { tilescope_release(pointer); }
TILESCOPE_OPERATOR(void, tilescope_delete_array, (void* pointer), "_ZdaPv") { tilescope_release(pointer); }
TILESCOPE_OPERATOR(void, tilescope_delete_sized, (void* pointer, size_t), "_ZdlPvm") { tilescope_release(pointer); }
TILESCOPE_OPERATOR(void, tilescope_delete_sized_array, (void* pointer, size_t), "_ZdaPvm") { tilescope_release(pointer); }
}
#undef TILESCOPE_OPERATOR

// --- launches of one kernel, for `single_launch.h`

extern "C" {
char* tilescope_map_launch() {
  const char* path = getenv("TILESCOPE_LAUNCH");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  struct stat facts;
  if (file < 0 || fstat(file, &facts)) return nullptr;
  void* content = mmap(nullptr, facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return content == MAP_FAILED ? nullptr : (char*)content;
}
int tilescope_die_with(int64_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent;
}
}

// --- linear algebra for `cublas_v2.h`, here because this file is optimised: C = alpha op(A) op(B) + beta C by columns

template <class T>
static void multiply(int a_is_transposed, int b_is_transposed, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  std::vector<T> column(m);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < m; i++) column[i] = 0;
    for (int p = 0; p < k; p++) {
      T factor = b_is_transposed ? b[(size_t)p * ldb + j] : b[(size_t)j * ldb + p];
      const T* from = a_is_transposed ? a + p : a + (size_t)p * lda;
      size_t step = a_is_transposed ? lda : 1;
      for (int i = 0; i < m; i++) column[i] += from[i * step] * factor;
    }
    T* target = c + (size_t)j * ldc;
    for (int i = 0; i < m; i++) target[i] = alpha * column[i] + (beta == 0 ? 0 : beta * target[i]);
  }
}
extern "C" {
void tilescope_multiply_float(int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  multiply(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void tilescope_multiply_double(int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  multiply(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
}

// --- random numbers: XORWOW without its counter is a vector of 160 bits, and a step a matrix over GF(2)

struct BitMatrix { unsigned rows[160][5]; };  // the image of each bit

static void apply(const BitMatrix& matrix, unsigned* v) {
  unsigned result[5] = {0, 0, 0, 0, 0};
  for (int bit = 0; bit < 160; bit++) {
    if (!(v[bit / 32] >> bit % 32 & 1)) continue;
    for (int k = 0; k < 5; k++) result[k] ^= matrix.rows[bit][k];
  }
  for (int k = 0; k < 5; k++) v[k] = result[k];
}

// The matrix of 2^power steps.
static const BitMatrix& steps(int power) {
  static std::vector<BitMatrix> matrices;
  if (matrices.empty()) {
    matrices.resize(1);
    for (int bit = 0; bit < 160; bit++) {
      unsigned v[5] = {0, 0, 0, 0, 0};
      v[bit / 32] = 1u << bit % 32;
      unsigned t = v[0] ^ v[0] >> 2, last = v[4] ^ v[4] << 4 ^ t ^ t << 1;
      unsigned after[5] = {v[1], v[2], v[3], v[4], last};
      for (int k = 0; k < 5; k++) matrices[0].rows[bit][k] = after[k];
    }
  }
  while ((int)matrices.size() <= power) {
    matrices.push_back(matrices.back());
    for (auto& row : matrices.back().rows) apply(matrices[matrices.size() - 2], row);
  }
  return matrices[power];
}

extern "C" void tilescope_xorwow_skip(unsigned* state, uint64_t n, int power) {
  Quiet quiet;
  for (int p = power; n; n >>= 1, p++) {
    if (n & 1) apply(steps(p), state);
  }
}
