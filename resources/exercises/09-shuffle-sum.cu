// Sum by shuffles: the 32 lanes of a warp add up their elements without any memory.

__global__ void warp_sums(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = i % 32;
    if (lane == 0 && i < n) { // one lane works, 31 look on
        int total = 0;
        for (int j = i; j < min(i + 32, n); j++)
            total += a[j];
        out[i / 32] = total;
    }
}
