__global__ void warp_sums(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? a[i] : 0;
    for (int delta = 16; delta > 0; delta /= 2)
        value += __shfl_down_sync(0xffffffff, value, delta);
    if (i % 32 == 0 && i < n)
        out[i / 32] = value;
}
