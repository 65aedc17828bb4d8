// One step of the game of life on a torus.
#include <cstdio>
__global__ void step(const int* now, int* next, int n) {
    int x = threadIdx.x, y = blockIdx.x, count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                count += now[(y + dy + n) % n * n + (x + dx + n) % n];
    next[y * n + x] = count == 3 || (count == 2 && now[y * n + x]);
}
int main() {
    const int n = 32;
    int host[n * n] = {}, *a, *b, alive = 0;
    host[5 * n + 4] = host[5 * n + 5] = host[5 * n + 6] = 1;
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    step<<<n, n>>>(a, b, n);
    step<<<n, n>>>(b, a, n);
    cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
    for (int cell : host) alive += cell;
    printf("%d %d\n", alive, host[5 * n + 4]);
    cudaFree(a);
    cudaFree(b);
}
