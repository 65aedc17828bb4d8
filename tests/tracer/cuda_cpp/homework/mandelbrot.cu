// The Mandelbrot set: the steps until a point leaves, of each pixel.
#include <cstdio>
struct Complex {
    float re, im;
};
__device__ Complex next(Complex z, Complex c) {
    return {z.re * z.re - z.im * z.im + c.re, 2 * z.re * z.im + c.im};
}
__global__ void draw(unsigned char* pixels, int width, int height, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    Complex c = {-2 + 3.0f * x / width, -1 + 2.0f * y / height}, z = {0, 0};
    int steps = 0;
    while (steps < most && z.re * z.re + z.im * z.im < 4) {
        z = next(z, c);
        steps++;
    }
    pixels[y * width + x] = steps;
}
int main() {
    const int width = 30, height = 20;
    static unsigned char host[width * height];
    unsigned char* pixels;
    cudaMalloc(&pixels, sizeof host);
    draw<<<dim3(2, 3), dim3(16, 8)>>>(pixels, width, height, 50);
    cudaMemcpy(host, pixels, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d\n", host[0], host[10 * width + 20]);
    cudaFree(pixels);
}
