#define THREADS 64

__global__ void dot(const float *a, const float *b, float *total, int n)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[t] = i < n ? a[i] * b[i] : 0.0f;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride)
            part[t] += part[t + stride];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(total, part[0]);
}
