// Dot product: each block adds up its products in shared memory, and adds once to the total.
#define THREADS 64 // of a block

__global__ void dot(const float *a, const float *b, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, a[i] * b[i]); // all threads queue for one element
}
