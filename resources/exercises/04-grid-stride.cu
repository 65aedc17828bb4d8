// A grid-stride loop: square all elements, with fewer threads than elements.

__global__ void square(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) // one element for each thread: those behind are left out
        out[i] = a[i] * a[i];
}
