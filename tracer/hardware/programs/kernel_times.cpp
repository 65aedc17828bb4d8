// Records the time of every kernel and copy of a program, by the activity records of CUPTI.
//
// The driver loads this library into a program when CUDA_INJECTION64_PATH names it. At the program's end it writes a
// line of JSON for the device and for each record to the file that TILESCOPE_TIMES names. The program is unchanged.
// TILESCOPE_KERNEL_RECORD is the newest type of kernel records in the installed header.

#include <cuda.h>
#include <cupti.h>
#include <cxxabi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

namespace {

constexpr size_t BUFFER_BYTES = 1 << 20;

std::mutex lock;
std::FILE* target = nullptr;

std::string quoted(const char* text) {
    std::string result = "\"";
    for (const char* at = text ? text : ""; *at; ++at) {
        if (*at == '"' || *at == '\\') result += '\\';
        if (static_cast<unsigned char>(*at) >= 32) result += *at;
    }
    return result + "\"";
}

std::string demangled(const char* name) {
    int status = 0;
    char* plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string result = quoted(status == 0 ? plain : name);
    std::free(plain);
    return result;
}

void write_record(const CUpti_Activity* record) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        auto kernel = reinterpret_cast<const TILESCOPE_KERNEL_RECORD*>(record);
        std::fprintf(
            target,
            "{\"record\": \"kernel\", \"name\": %s, \"grid\": [%d, %d, %d], \"block\": [%d, %d, %d], "
            "\"registers\": %u, \"local_bytes\": %u, \"shared_bytes\": %lld, \"start\": %llu, \"end\": %llu}\n",
            demangled(kernel->name).c_str(), kernel->gridX, kernel->gridY, kernel->gridZ, kernel->blockX,
            kernel->blockY, kernel->blockZ, static_cast<unsigned>(kernel->registersPerThread),
            static_cast<unsigned>(kernel->localMemoryPerThread),
            static_cast<long long>(kernel->staticSharedMemory) + kernel->dynamicSharedMemory,
            static_cast<unsigned long long>(kernel->start), static_cast<unsigned long long>(kernel->end));
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        auto copy = reinterpret_cast<const TILESCOPE_COPY_RECORD*>(record);
        std::fprintf(
            target, "{\"record\": \"copy\", \"kind\": %d, \"bytes\": %llu, \"start\": %llu, \"end\": %llu}\n",
            static_cast<int>(copy->copyKind), static_cast<unsigned long long>(copy->bytes),
            static_cast<unsigned long long>(copy->start), static_cast<unsigned long long>(copy->end));
    }
}

void CUPTIAPI offer_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, BUFFER_BYTES));
    *size = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
    std::lock_guard<std::mutex> held(lock);
    CUpti_Activity* record = nullptr;
    while (target && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) write_record(record);
    std::free(buffer);
}

int attribute(CUdevice_attribute which, CUdevice device) {
    int value = 0;
    cuDeviceGetAttribute(&value, which, device);
    return value;
}

void write_device() {
    char name[256] = "";
    CUdevice device = 0;
    size_t bytes = 0;
    int cuda = 0;
    CUcontext context = nullptr;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context || cuCtxGetDevice(&device) != CUDA_SUCCESS)
        cuDeviceGet(&device, 0);
    cuDeviceGetName(name, sizeof name, device);
    cuDeviceTotalMem(&bytes, device);
    cuDriverGetVersion(&cuda);
    std::fprintf(
        target,
        "{\"record\": \"device\", \"name\": %s, \"compute_capability\": [%d, %d], \"multiprocessors\": %d, "
        "\"memory_bytes\": %zu, \"l2_bytes\": %d, \"cuda\": [%d, %d]}\n",
        quoted(name).c_str(), attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
        attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
        attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), bytes,
        attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device), cuda / 1000, cuda % 1000 / 10);
}

void write_rest() {
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    std::lock_guard<std::mutex> held(lock);
    if (!target) return;
    write_device();
    std::fclose(target);
    target = nullptr;
}

}  // namespace

extern "C" int InitializeInjection() {
    const char* path = std::getenv("TILESCOPE_TIMES");
    target = path ? std::fopen(path, "a") : nullptr;
    if (!target) return 0;
    CUptiResult status = cuptiActivityRegisterCallbacks(offer_buffer, take_buffer);
    if (status == CUPTI_SUCCESS) status = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (status == CUPTI_SUCCESS) status = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    if (status != CUPTI_SUCCESS) {
        const char* reason = nullptr;
        cuptiGetResultString(status, &reason);
        std::fprintf(target, "{\"record\": \"refused\", \"reason\": %s}\n", quoted(reason).c_str());
        std::fclose(target);
        target = nullptr;
        return 0;
    }
    std::atexit(write_rest);
    return 1;
}
