// A copy that coalesces: each thread copies 8 elements, but which?
#define EACH 8 // elements for each thread

__global__ void copy(const float *a, float *out, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
    for (int i = first; i < first + EACH; i++) // 8 in a row: right, but slow
        if (i < n)
            out[i] = a[i];
}
