// Two dimensions: the negative of a grey image, one thread for each pixel.
// A row of the image has `cols` pixels: the one at (row, col) is image[row * cols + col].
#define WHITE 255 // black is 0

__global__ void negative(const unsigned char *image, unsigned char *out, int rows, int cols)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x; // the place of this thread in the grid: to the right,
    int y = blockIdx.y * blockDim.y + threadIdx.y; // and down
    if (x == 0 && y == 0)
        out[0] = WHITE - image[0]; // one pixel is done; do all of them
}
