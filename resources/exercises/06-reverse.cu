// Reverse: each block turns its piece of a round, through shared memory.
#define THREADS 64 // of a block; a piece has as many elements

__global__ void reverse(const int *a, int *out, int n)
{
    __shared__ int piece[THREADS];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        piece[t] = a[i];
        out[i] = piece[t]; // its own element: nothing is turned round yet
    }
}
