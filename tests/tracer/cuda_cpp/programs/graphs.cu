#include <cstdio>
#include <cublas_v2.h>
__global__ void add(float *a, float v, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += v; }
__global__ void twice(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= 2; }
void say(void *p) { printf("host %d\n", *(int *)p); }
int main() {
  const int n = 100;
  float *d, h[n];
  cudaMalloc(&d, n * sizeof(float));
  cudaMemset(d, 0, n * sizeof(float));
  cudaStream_t s, t; cudaStreamCreate(&s); cudaStreamCreate(&t);
  cudaEvent_t e, f; cudaEventCreate(&e); cudaEventCreate(&f);
  cudaGraph_t graph; cudaGraphExec_t exec;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  add<<<1, 128, 0, s>>>(d, 3.0f, n);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(t, e, 0);
  twice<<<1, 128, 0, t>>>(d, n);
  cudaEventRecord(f, t);
  cudaStreamWaitEvent(s, f, 0);
  cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, s);
  cudaStreamEndCapture(s, &graph);
  size_t count; cudaGraphGetNodes(graph, nullptr, &count);
  cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
  for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  printf("%zu nodes %g %g\n", count, h[0], h[99]);
  cudaGraphExecDestroy(exec); cudaGraphDestroy(graph);
  cudaGraph_t g2; cudaGraphCreate(&g2, 0);
  cudaGraphNode_t k1, k2, m, ho;
  float v = 1.5f; int nn = n;
  void *args[] = {&d, &v, &nn};
  cudaKernelNodeParams p = {};
  p.func = (void *)add; p.gridDim = dim3(1); p.blockDim = dim3(128); p.sharedMemBytes = 0; p.kernelParams = args; p.extra = NULL;
  cudaGraphAddKernelNode(&k1, g2, NULL, 0, &p);
  v = 100;
  void *args2[] = {&d, &nn};
  cudaKernelNodeParams q = {0};
  q.func = (void *)twice; q.gridDim = dim3(1, 1, 1); q.blockDim = dim3(128, 1, 1); q.kernelParams = (void **)args2;
  cudaGraphAddKernelNode(&k2, g2, &k1, 1, &q);
  cudaGraphAddMemcpyNode1D(&m, g2, &k2, 1, h, d, sizeof h, cudaMemcpyDeviceToHost);
  int seven = 7; cudaHostNodeParams hp = {say, &seven};
  cudaGraphAddHostNode(&ho, g2, &m, 1, &hp);
  cudaGraphInstantiate(&exec, g2, 0);
  cudaGraphLaunch(exec, 0);
  cudaDeviceSynchronize();
  printf("%g %s\n", h[5], cudaGetErrorString(cudaGetLastError()));
  cudaFree(d);
}
