extern "C" __global__ void shift(const int* a, int* out) {
    int i = threadIdx.x;
    out[i] = a[i + 1];
}
