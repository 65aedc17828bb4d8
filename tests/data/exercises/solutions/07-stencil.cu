#define THREADS 64
#define RADIUS 2
#define SPAN (THREADS + 2 * RADIUS)

__global__ void five_point_sum(const int *a, int *out, int n)
{
    __shared__ int tile[SPAN];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[t + RADIUS] = i < n ? a[i] : 0;
    if (t < RADIUS) {
        int left = i - RADIUS, right = i + THREADS;
        tile[t] = left >= 0 ? a[left] : 0;
        tile[t + RADIUS + THREADS] = right < n ? a[right] : 0;
    }
    __syncthreads();
    if (i < n) {
        int total = 0;
        for (int k = 0; k <= 2 * RADIUS; k++)
            total += tile[t + k];
        out[i] = total;
    }
}
