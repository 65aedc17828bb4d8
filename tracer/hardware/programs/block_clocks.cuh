// Records when and on which multiprocessor each block of a launch ran, by the GPU's clocks.
//
// Tilescope includes this in front of a program's text. Each kernel has a TilescopeSpan as its first variable, which
// writes a row for each warp when the warp starts and ends. Around the first launch of each kernel and size, all
// multiprocessors' clocks are read beside the common timer. A launch's files go to the folder TILESCOPE_CLOCKS.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace tilescope_clocks {

struct Row {  // as WRITTEN_ROW in tracer/hardware/marks/decoding.py
    unsigned start, end, multiprocessor, at;
};

constexpr int MULTIPROCESSORS = 1024, STEPS = 16, LANES = 32;
constexpr size_t MOST_WARPS = 1u << 24;

static __device__ Row* rows;  // of the launch that is recorded, else null

static __device__ __forceinline__ unsigned clock_now() {
    unsigned now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    return now;
}

static __device__ __forceinline__ unsigned thread_number() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ unsigned warp_number() {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    return block * ((threads + LANES - 1) / LANES) + thread_number() / LANES;
}

// Reads all multiprocessors' clocks at steps of the timer: pairs[multiprocessor][step] = (clock, timer).
static __global__ void read_clocks(unsigned long long* pairs, int* taken) {
    unsigned number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    if (number >= MULTIPROCESSORS || atomicAdd(&taken[number], 1) != 0) return;
    unsigned long long before, now, cycles;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before)::"memory");
    for (int step = 0; step < STEPS;) {
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
        if (now == before) continue;
        pairs[2 * (number * STEPS + step)] = cycles;
        pairs[2 * (number * STEPS + step) + 1] = now;
        before = now;
        ++step;
    }
}

constexpr size_t PAIR_BYTES = sizeof(unsigned long long) * 2 * MULTIPROCESSORS * STEPS;

class Recorder {
public:
    // Prepares the launch of a kernel at a line; nothing happens for a launch that was recorded before.
    template <class... Rest>
    void begin(const char* kernel, const char* file, int line, dim3 grid, dim3 block, size_t shared = 0,
               cudaStream_t stream = nullptr, Rest...) {
        is_recording_ = false;
        const char* folder = std::getenv("TILESCOPE_CLOCKS");
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
        if (!folder || cudaStreamIsCapturing(stream, &capture) != cudaSuccess ||
            capture != cudaStreamCaptureStatusNone)
            return;
        size_t warps = (size_t(block.x) * block.y * block.z + LANES - 1) / LANES;
        count_ = size_t(grid.x) * grid.y * grid.z * warps;
        std::string size = std::to_string(grid.x) + ", " + std::to_string(grid.y) + ", " + std::to_string(grid.z);
        std::string threads =
            std::to_string(block.x) + ", " + std::to_string(block.y) + ", " + std::to_string(block.z);
        std::string key = std::string(kernel) + size + ";" + threads;
        if (!count_ || count_ > MOST_WARPS || seen_[key]) return;
        seen_[key] = true;
        head_ = std::string("{\"kernel\": \"") + kernel + "\", \"file\": \"" + file +
                "\", \"line\": " + std::to_string(line) + ", \"grid\": [" + size + "], \"block\": [" + threads +
                "], \"dynamic_bytes\": " + std::to_string(shared) + "}\n";
        folder_ = folder;
        stream_ = stream;
        if (cudaDeviceSynchronize() != cudaSuccess || !allocate()) return;
        is_recording_ = true;
        show_rows(static_cast<Row*>(memory_[2]));
        read(0);
    }

    // Waits for the launch and writes its clocks.
    void end() {
        if (!is_recording_) return;
        is_recording_ = false;
        if (cudaPeekAtLastError() == cudaSuccess) {
            read(1);
            if (cudaDeviceSynchronize() == cudaSuccess) write();
        }
        show_rows(nullptr);
        for (void* memory : memory_) cudaFree(memory);
    }

private:
    bool allocate() {
        const size_t sizes[] = {PAIR_BYTES, PAIR_BYTES, count_ * sizeof(Row), sizeof(int) * MULTIPROCESSORS};
        for (int i = 0; i < 4; ++i) {
            if (cudaMalloc(&memory_[i], sizes[i]) != cudaSuccess) {
                cudaGetLastError();
                while (i--) cudaFree(memory_[i]);
                return false;
            }
            cudaMemset(memory_[i], 0, sizes[i]);
        }
        return true;
    }

    void show_rows(Row* shown) { cudaMemcpyToSymbol(rows, &shown, sizeof shown); }

    void read(int place) {
        int device = 0, multiprocessors = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        cudaMemsetAsync(memory_[3], 0, sizeof(int) * MULTIPROCESSORS, stream_);
        read_clocks<<<2 * multiprocessors, 1, 0, stream_>>>(
            static_cast<unsigned long long*>(memory_[place]), static_cast<int*>(memory_[3]));
    }

    void write() {
        std::string path = folder_ + "/" + std::to_string(number_++) + ".clocks";
        std::FILE* file = std::fopen(path.c_str(), "wb");
        if (!file) return;
        std::fwrite(head_.data(), 1, head_.size(), file);
        const size_t sizes[] = {PAIR_BYTES, PAIR_BYTES, count_ * sizeof(Row)};
        for (int i = 0; i < 3; ++i) {
            std::vector<char> content(sizes[i]);
            cudaMemcpy(content.data(), memory_[i], sizes[i], cudaMemcpyDeviceToHost);
            std::fwrite(content.data(), 1, content.size(), file);
        }
        std::fclose(file);
    }

    std::map<std::string, bool> seen_;
    std::string head_, folder_;
    void* memory_[4] = {};  // clocks before, clocks after, rows of warps, multiprocessors whose clock is read
    cudaStream_t stream_ = nullptr;
    size_t count_ = 0;  // of warps
    int number_ = 0;    // of files
    bool is_recording_ = false;
};

static Recorder recorder;

}  // namespace tilescope_clocks

// The time that a warp spends in a kernel: from its construction to the end of the kernel, by any return.
struct TilescopeSpan {
    __device__ __forceinline__ TilescopeSpan() {
        using namespace tilescope_clocks;
        if (rows && thread_number() % LANES == 0) rows[warp_number()].start = clock_now();
    }
    __device__ __forceinline__ ~TilescopeSpan() {
        using namespace tilescope_clocks;
        if (!rows) return;
        Row* row = rows + warp_number();
        if (thread_number() % LANES == 0) {
            unsigned number;
            asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
            row->multiprocessor = number;
            row->at = warp_number();
        }
        row->end = clock_now();  // each lane writes it, so that the last one stays
    }
};
