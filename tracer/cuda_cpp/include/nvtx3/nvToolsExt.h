// Ranges and marks for profilers: no-ops.
#pragma once
typedef unsigned long long nvtxRangeId_t;
typedef struct nvtxEventAttributes_v2 { unsigned short version, size; unsigned category; int colorType; unsigned color; int payloadType, reserved0; union { unsigned long long ullValue; double dValue; } payload; int messageType; union { const char* ascii; } message; } nvtxEventAttributes_t;
enum { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB, NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_VERSION = 3, NVTX_EVENT_ATTRIB_STRUCT_SIZE = sizeof(nvtxEventAttributes_t) };
inline int nvtxRangePushA(const char*) { return 0; }
inline int nvtxRangePush(const char*) { return 0; }
inline int nvtxRangePushEx(const nvtxEventAttributes_t*) { return 0; }
inline int nvtxRangePop() { return 0; }
inline nvtxRangeId_t nvtxRangeStartA(const char*) { return 0; }
inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t*) { return 0; }
inline void nvtxRangeEnd(nvtxRangeId_t) {}
inline void nvtxMarkA(const char*) {}
inline void nvtxMark(const char*) {}
inline void nvtxNameOsThreadA(unsigned, const char*) {}
