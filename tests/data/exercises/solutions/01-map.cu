__global__ void add_ten(const int *a, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + 10;
}
