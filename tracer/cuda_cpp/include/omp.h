// OpenMP for host code that is compiled without it: one thread runs all parts.
#pragma once
#include <ctime>

typedef struct { int is_set; } omp_lock_t;
inline int omp_get_num_threads() { return 1; }
inline int omp_get_max_threads() { return 1; }
inline int omp_get_thread_num() { return 0; }
inline int omp_get_num_procs() { return 1; }
inline int omp_in_parallel() { return 0; }
inline int omp_get_thread_limit() { return 1; }
inline int omp_get_level() { return 0; }
inline int omp_get_dynamic() { return 0; }
inline int omp_get_nested() { return 0; }
inline void omp_set_num_threads(int) {}
inline void omp_set_dynamic(int) {}
inline void omp_set_nested(int) {}
inline void omp_init_lock(omp_lock_t* lock) { lock->is_set = 0; }
inline void omp_set_lock(omp_lock_t* lock) { lock->is_set = 1; }
inline void omp_unset_lock(omp_lock_t* lock) { lock->is_set = 0; }
inline void omp_destroy_lock(omp_lock_t*) {}
inline double omp_get_wtick() { return 1e-9; }
inline double omp_get_wtime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
