#define THREADS 64

__global__ void reverse(const int *a, int *out, int n)
{
    __shared__ int piece[THREADS];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        piece[t] = a[i];
    __syncthreads();
    int count = min(THREADS, n - (int)blockIdx.x * THREADS);
    if (i < n)
        out[i] = piece[count - 1 - t];
}
