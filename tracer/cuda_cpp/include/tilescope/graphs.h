// Graphs: work that is kept instead of done, by nodes or by the capture of a stream, and done by `cudaGraphLaunch`, one
// node after the other in the order in which they were added.
#pragma once
#include <functional>
#include <vector>

enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost, cudaGraphNodeTypeGraph, cudaGraphNodeTypeEmpty
};
struct CUgraphNode_st {
  std::function<void()> run;
  cudaGraphNodeType type;
};
typedef CUgraphNode_st* cudaGraphNode_t;
struct CUgraph_st { std::vector<cudaGraphNode_t> nodes; };
typedef CUgraph_st* cudaGraph_t;
typedef CUgraph_st* cudaGraphExec_t;
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated };
enum cudaGraphExecUpdateResult { cudaGraphExecUpdateSuccess, cudaGraphExecUpdateError };
enum { cudaGraphInstantiateFlagAutoFreeOnLaunch = 1 };

template <class F> TILESCOPE_HELPER cudaGraphNode_t tilescope_add_node(cudaGraph_t graph, cudaGraphNodeType type, F run) {
  cudaGraphNode_t node = new CUgraphNode_st{std::function<void()>(run), type};
  graph->nodes.push_back(node);
  return node;
}

// Keep work of a stream that is captured; false if it is not, and the work must be done now.
template <class F> TILESCOPE_HELPER bool tilescope_capture(cudaStream_t stream, cudaGraphNodeType type, F run) {
  if (!stream || !stream->graph) return false;
  tilescope_add_node(stream->graph, type, run);
  return true;
}

template <class F> TILESCOPE_HELPER void tilescope_keep_launch(const char*, const TilescopeConfig& config, F launch) { tilescope_capture(config.stream, cudaGraphNodeTypeKernel, launch); }
TILESCOPE_HELPER inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  if (tilescope_capture(stream, cudaGraphNodeTypeMemcpy, [=] { tilescope_copy_async(to, from, size, kind); })) return cudaSuccess;
  return tilescope_copy_async(to, from, size, kind, stream);
}
TILESCOPE_HELPER inline cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) {
  if (tilescope_capture(stream, cudaGraphNodeTypeMemset, [=] { cudaMemset(to, value, size); })) return cudaSuccess;
  cudaError_t error = cudaMemset(to, value, size);
  if (!error) tilescope_order("copy", stream, nullptr, to, nullptr, size);
  return error;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* data) {
  if (!tilescope_capture(stream, cudaGraphNodeTypeHost, [=] { function(data); })) function(data);
  return cudaSuccess;
}

TILESCOPE_HELPER inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode = cudaStreamCaptureModeGlobal) {
  if (!stream || stream->graph) return tilescope_result(cudaErrorStreamCaptureUnsupported);
  stream->graph = new CUgraph_st();
  stream->begins_capture = true;
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!stream || !stream->graph || !stream->begins_capture) return tilescope_result(cudaErrorIllegalState);
  *graph = stream->graph;
  for (cudaStream_t other : tilescope_streams()) {  // those that joined it
    if (other->graph == *graph) other->graph = nullptr, other->begins_capture = false;
  }
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = stream && stream->graph ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

TILESCOPE_HELPER inline cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) { *graph = new CUgraph_st(); return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long = 0) {
  if (!graph) return tilescope_result(cudaErrorInvalidValue);
  *executable = new CUgraph_st(*graph);
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t*, char*, size_t) { return cudaGraphInstantiate(executable, graph); }
TILESCOPE_HELPER inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) { return cudaGraphInstantiate(executable, graph); }
TILESCOPE_HELPER inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (!executable) return tilescope_result(cudaErrorInvalidValue);
  if (tilescope_capture(stream, cudaGraphNodeTypeGraph, [executable] { cudaGraphLaunch(executable, nullptr); })) return cudaSuccess;
  for (cudaGraphNode_t node : executable->nodes) node->run();
  return (cudaError_t)tilescope_error(0);
}
TILESCOPE_HELPER inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t*, cudaGraphExecUpdateResult* result) {
  executable->nodes = graph->nodes;
  *result = cudaGraphExecUpdateSuccess;
  return cudaSuccess;
}
struct cudaGraphExecUpdateResultInfo { cudaGraphExecUpdateResult result; };
TILESCOPE_HELPER inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) { return cudaGraphExecUpdate(executable, graph, nullptr, &info->result); }
TILESCOPE_HELPER inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { delete executable; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) { delete graph; return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) { *clone = new CUgraph_st(*graph); return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*, size_t) { return cudaSuccess; }
TILESCOPE_HELPER inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (nodes) {
    for (size_t i = 0; i < *count && i < graph->nodes.size(); i++) nodes[i] = graph->nodes[i];
  }
  *count = graph->nodes.size();
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) { *type = node->type; return cudaSuccess; }

// A kernel with its type, which binds the arguments that an array points to (`rewrite.py` drops casts to `void*`).
struct TilescopeNodeFunction {
  std::function<std::function<void()>(TilescopeConfig, void**)> bind;
  TilescopeNodeFunction() = default;
  TilescopeNodeFunction(const void* function) {
    if (function) bind = [](TilescopeConfig config, void**) -> std::function<void()> { tilescope_missing("kernel nodes by a pointer of type void*", config.file, config.line); };
  }
  template <class... P> TilescopeNodeFunction(void (*function)(P...)) {
    bind = [function](TilescopeConfig config, void** arguments) { return bound(config, function, arguments, std::index_sequence_for<P...>()); };
  }
  template <class... P, size_t... I>
  static std::function<void()> bound(TilescopeConfig config, void (*function)(P...), void** arguments, std::index_sequence<I...>) {
    auto values = std::make_tuple(tilescope_argument<P>(arguments, I)...);
    return [=] {
      std::apply([&](auto... each) { tilescope_kernel("", config, function)(each...); }, values);
    };
  }
};
struct cudaKernelNodeParams {
  TilescopeNodeFunction func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes = 0;
  void** kernelParams = nullptr;
  void** extra = nullptr;
};
TILESCOPE_HELPER inline std::function<void()> tilescope_kernel_node(const cudaKernelNodeParams* p, const char* file, int line) {
  return p->func.bind(TilescopeConfig(file, line, p->gridDim, p->blockDim, p->sharedMemBytes), p->kernelParams);
}
TILESCOPE_HELPER inline cudaError_t tilescope_add_kernel_node(const char* file, int line, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, size_t, const cudaKernelNodeParams* p) {
  if (!p->func.bind) return tilescope_result(cudaErrorInvalidDeviceFunction);
  *node = tilescope_add_node(graph, cudaGraphNodeTypeKernel, tilescope_kernel_node(p, file, line));
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t tilescope_set_kernel_node(const char* file, int line, cudaGraphExec_t, cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  if (!p->func.bind) return tilescope_result(cudaErrorInvalidDeviceFunction);
  node->run = tilescope_kernel_node(p, file, line);
  return cudaSuccess;
}
#define cudaGraphAddKernelNode(...) tilescope_add_kernel_node(__FILE__, __LINE__, __VA_ARGS__)
#define cudaGraphExecKernelNodeSetParams(...) tilescope_set_kernel_node(__FILE__, __LINE__, __VA_ARGS__)

struct cudaHostNodeParams {
  void (*fn)(void*);
  void* userData;
};
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
TILESCOPE_HELPER inline cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, size_t, const cudaHostNodeParams* p) {
  *node = tilescope_add_node(graph, cudaGraphNodeTypeHost, [p = *p] { p.fn(p.userData); });
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, size_t) {
  *node = tilescope_add_node(graph, cudaGraphNodeTypeEmpty, [] {});
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, size_t, void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  *node = tilescope_add_node(graph, cudaGraphNodeTypeMemcpy, [=] { cudaMemcpyAsync(to, from, size, kind); });
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, size_t, const cudaMemcpy3DParms* p) {
  *node = tilescope_add_node(graph, cudaGraphNodeTypeMemcpy, [p = *p] { cudaMemcpy3D(&p); });
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, size_t, const cudaMemsetParams* p) {
  *node = tilescope_add_node(graph, cudaGraphNodeTypeMemset, [p = *p] {
    for (size_t y = 0; y < p.height; y++) {
      for (size_t x = 0; x < p.width; x++) memcpy((char*)p.dst + y * p.pitch + x * p.elementSize, &p.value, p.elementSize);
    }
    tilescope_touch(p.dst);
  });
  return cudaSuccess;
}
TILESCOPE_HELPER inline cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, size_t, cudaGraph_t child) {
  *node = tilescope_add_node(graph, cudaGraphNodeTypeGraph, [nodes = child->nodes] {
    for (cudaGraphNode_t each : nodes) each->run();
  });
  return cudaSuccess;
}
