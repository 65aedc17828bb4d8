// Grey levels of an image of four bytes a pixel.
#include <cstdio>
#include <vector>
__global__ void grey(const uchar4* pixels, unsigned char* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        uchar4 p = pixels[y * width + x];
        out[y * width + x] = (p.x + p.y + p.z) / 3;
    }
}
int main() {
    const int width = 50, height = 20;
    std::vector<uchar4> host(width * height, make_uchar4(30, 60, 90, 255));
    std::vector<unsigned char> levels(width * height);
    uchar4* pixels;
    unsigned char* out;
    cudaMalloc(&pixels, host.size() * sizeof(uchar4));
    cudaMalloc(&out, levels.size());
    cudaMemcpy(pixels, host.data(), host.size() * sizeof(uchar4), cudaMemcpyHostToDevice);
    dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    grey<<<grid, block>>>(pixels, out, width, height);
    cudaMemcpy(levels.data(), out, levels.size(), cudaMemcpyDeviceToHost);
    printf("%d %d\n", levels[0], levels[999]);
    cudaFree(pixels);
    cudaFree(out);
}
