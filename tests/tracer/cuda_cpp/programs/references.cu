// Kernels whose parameters are references to managed objects.
#include <cstdio>
struct Element {
  int value;
  int* more;
};
__global__ void change(Element& element, const int& step) {
  element.value += step;
  element.more[threadIdx.x] = element.value;
}
int main() {
  Element* element;
  int* step;
  cudaMallocManaged(&element, sizeof(Element));
  cudaMallocManaged(&element->more, 4 * sizeof(int));
  cudaMallocManaged(&step, sizeof(int));
  element->value = 10;
  *step = 5;
  change<<<1, 1>>>(*element, *step);
  cudaDeviceSynchronize();
  change<<<1, 1>>>(*element, *step);
  cudaDeviceSynchronize();
  printf("%d %d\n", element->value, element->more[0]);
}
