// Memory that kernels allocate: objects with virtual functions, arrays, and more than there is.
#include <cstdio>

struct Shape {
  __device__ virtual int area() { return 0; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int side_) : side(side_) {}
  __device__ int area() override { return side * side; }
};
__global__ void create(Shape** shapes) { shapes[threadIdx.x] = new Square(threadIdx.x); }
__global__ void measure(Shape** shapes, int* out) { out[threadIdx.x] = shapes[threadIdx.x]->area(); }
__global__ void end(Shape** shapes) { delete shapes[threadIdx.x]; }
__global__ void sum(int* out) {
  int* numbers = new int[8];
  for (int i = 0; i < 8; i++) numbers[i] = i;
  out[threadIdx.x] = 0;
  for (int i = 0; i < 8; i++) out[threadIdx.x] += numbers[i];
  delete[] numbers;
}
__global__ void exhaust(int* out, size_t size) {
  void* memory = malloc(size);
  out[threadIdx.x] = memory == nullptr;
  free(memory);
}

static int count(const int* flags) {
  int total = 0;
  for (int i = 0; i < 32; i++) total += flags[i];
  return total;
}

int main() {
  Shape** shapes;
  int *out, few;
  cudaMalloc(&shapes, 32 * sizeof(Shape*));
  cudaMallocManaged(&out, 32 * sizeof(int));
  create<<<1, 32>>>(shapes);
  measure<<<1, 32>>>(shapes, out);
  end<<<1, 32>>>(shapes);
  cudaDeviceSynchronize();
  printf("%d %d\n", out[3], out[31]);
  sum<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  printf("%d\n", out[5]);
  exhaust<<<1, 32>>>(out, 1000);
  cudaDeviceSynchronize();
  few = count(out);
  exhaust<<<1, 32>>>(out, 16 << 20);
  cudaDeviceSynchronize();
  printf("%d null pointers of 32, then %d\n", few, count(out));
  cudaFree(shapes);
  cudaFree(out);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
