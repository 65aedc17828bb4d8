// Results of PTX's approximations. `dump OPERATION FIRST COUNT FILE` writes those of COUNT arguments from the bits FIRST
// on; `sums FILE` writes, for each operation and each 2**23 arguments of one sign and exponent, a sum over them.
// The last two take the upper word of a float64, and give the upper word of the result, the lower one mixed in.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

template <int N> __device__ uint32_t result(uint32_t argument);

#define SINGLE(N, PTX)                                                                                   \
    template <> __device__ uint32_t result<N>(uint32_t argument) {                                       \
        float given = __uint_as_float(argument), got;                                                    \
        asm volatile(PTX " %0, %1;" : "=f"(got) : "f"(given));                                           \
        return __float_as_uint(got);                                                                     \
    }
#define DOUBLE(N, PTX)                                                                                   \
    template <> __device__ uint32_t result<N>(uint32_t argument) {                                       \
        double given = __hiloint2double(argument, 0), got;                                               \
        asm volatile(PTX " %0, %1;" : "=d"(got) : "d"(given));                                           \
        return __double2hiint(got) ^ __double2loint(got);                                                \
    }

SINGLE(0, "rcp.approx.ftz.f32")
SINGLE(1, "rsqrt.approx.ftz.f32")
SINGLE(2, "sqrt.approx.ftz.f32")
SINGLE(3, "lg2.approx.ftz.f32")
SINGLE(4, "ex2.approx.ftz.f32")
SINGLE(5, "sin.approx.ftz.f32")
SINGLE(6, "cos.approx.ftz.f32")
SINGLE(7, "rsqrt.approx.f32")
SINGLE(8, "sqrt.approx.f32")
SINGLE(9, "lg2.approx.f32")
SINGLE(10, "ex2.approx.f32")
SINGLE(11, "sin.approx.f32")
SINGLE(12, "cos.approx.f32")
DOUBLE(13, "rcp.approx.ftz.f64")
DOUBLE(14, "rsqrt.approx.ftz.f64")

template <int N> __global__ void dump(uint32_t first, uint32_t *out) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = result<N>(first + i);
}

template <int N> __global__ void sums(unsigned long long *out) {
    unsigned long long sum = 0;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << 23; i += gridDim.x * blockDim.x)
        sum += (result<N>(blockIdx.y << 23 | i) + 1ull) * (2ull * i + 1);
    atomicAdd(out + blockIdx.y, sum);
}

#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14)

int main(int count, char **words) {
    void *device;
    cudaMalloc(&device, 4u << 23);
    if (count == 3 && !strcmp(words[1], "sums")) {
        FILE *file = fopen(words[2], "wb");
        unsigned long long found[512];
#define SUM(N)                                                                                           \
    cudaMemset(device, 0, sizeof found);                                                                 \
    sums<N><<<dim3(64, 512), 256>>>((unsigned long long *)device);                                       \
    cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost);                                     \
    fwrite(found, sizeof found, 1, file);
        ALL(SUM)
        fclose(file);
    } else if (count == 6) {
        uint32_t first = strtoul(words[3], 0, 0), wanted = strtoul(words[4], 0, 0);
        std::vector<uint32_t> found(wanted);
        switch (atoi(words[2])) {
#define DUMP(N) case N: dump<N><<<wanted / 256, 256>>>(first, (uint32_t *)device); break;
            ALL(DUMP)
        }
        cudaMemcpy(found.data(), device, 4ul * wanted, cudaMemcpyDeviceToHost);
        FILE *file = fopen(words[5], "wb");
        fwrite(found.data(), 4, wanted, file);
        fclose(file);
    }
    puts(cudaGetErrorString(cudaGetLastError()));
    return cudaGetLastError() != cudaSuccess;
}
