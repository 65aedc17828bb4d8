// Scan: each block computes the running sums of its piece.
#define THREADS 64 // of a block; a piece has as many elements

__global__ void scan(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int start = blockIdx.x * THREADS; // of the piece
    if (i < n) {
        int total = 0;
        for (int j = start; j <= i; j++) // each thread adds up all by itself
            total += a[j];
        out[i] = total;
    }
}
