// A stencil with its halo: the sum of each element and its two neighbours on either side.
#define THREADS 64 // of a block
#define RADIUS 2 // neighbours on either side
#define SPAN (THREADS + 2 * RADIUS) // elements that a block needs

__global__ void five_point_sum(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int total = 0;
        for (int j = i - RADIUS; j <= i + RADIUS; j++)
            if (0 <= j && j < n)
                total += a[j]; // read from global memory, by five threads each
        out[i] = total;
    }
}
