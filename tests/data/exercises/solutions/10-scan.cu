#define THREADS 64

__global__ void scan(const int *a, int *out, int n)
{
    __shared__ int part[THREADS];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int d = 1; d < THREADS; d *= 2) {
        int value = part[t];
        if (t >= d)
            value += part[t - d];
        __syncthreads();
        part[t] = value;
        __syncthreads();
    }
    if (i < n)
        out[i] = part[t];
}
