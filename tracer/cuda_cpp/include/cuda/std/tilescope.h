// `cuda::std` is the standard library of this machine, but its atomics are those of `cuda`.
#pragma once
namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda
