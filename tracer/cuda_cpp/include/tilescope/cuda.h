// What a CUDA C++ program gets before its first line, in place of nvcc's own definitions.
#pragma once
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <math.h>
#include <new>
#include <type_traits>
#include <utility>

#include "../../runtime/interface.h"

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_ARCH__ 900
#define __TILESCOPE__ 1

// A helper leaves no accesses. A call is seen by the runtime, which needs the line that calls it.
#define TILESCOPE_HELPER __attribute__((no_sanitize("thread")))
#define TILESCOPE_CALL __attribute__((noinline, no_sanitize("thread")))
#define TILESCOPE_PC __builtin_return_address(0)
#define TILESCOPE_TEXT_OF(...) #__VA_ARGS__
#define TILESCOPE_TEXT(...) TILESCOPE_TEXT_OF(__VA_ARGS__)

#define __global__
#define __device__
#define __host__
#define __managed__
#define __constant__
#if defined(__clang__)
#define __shared__ static thread_local
#else  // otherwise g++ guards arrays of classes with constructors by a variable, which kernels would read
#define __shared__ static thread_local __constinit
#endif
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(n) alignas(n)
#define __builtin_align__(n) alignas(n)
#define __restrict__ __restrict
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI

#include "vector_types.h"
#include "device.h"
#include "host.h"
#include "launch.h"
#include "textures.h"
#include "graphs.h"
