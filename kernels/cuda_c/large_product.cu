// C = A B for square matrices whose side 128 divides, row by row: the ceiling that a device's arithmetic reaches.
// Each thread keeps 8 x 8 elements of C in registers, so that an element that it loads from shared memory serves
// eight multiply-adds; while a block works on one pair of tiles, its threads hold the next one in registers.
template <typename real>
__global__ void __launch_bounds__(256) large_product(const real *a, const real *b, real *c, int n)
{
    const int side = 128, depth = 8;
    __shared__ alignas(16) real tile_a[2][depth][side + 4]; // its columns are rows of A; 4 keep the banks apart
    __shared__ alignas(16) real tile_b[2][depth][side];
    const int thread = threadIdx.x, across = thread % 16, down = thread / 16;
    const real *from_a = a + (size_t)(blockIdx.y * side + thread / depth) * n + thread % depth;
    const real *from_b = b + (size_t)(thread / side) * n + blockIdx.x * side + thread % side;
    real next_a[4], next_b[4], own[8][8] = {};

    auto load = [&](int start) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            next_a[i] = from_a[(size_t)(256 / depth * i) * n + start];
            next_b[i] = from_b[(size_t)(256 / side * i + start) * n];
        }
    };
    auto store = [&](int place) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            tile_a[place][thread % depth][thread / depth + 256 / depth * i] = next_a[i];
            tile_b[place][thread / side + 256 / side * i][thread % side] = next_b[i];
        }
    };

    load(0);
    store(0);
    __syncthreads();
    for (int start = 0; start < n; start += depth) {
        const int now = start / depth % 2;
        const bool more = start + depth < n;
        if (more)
            load(start + depth);
#pragma unroll
        for (int k = 0; k < depth; k++) {
            real left[8], above[8];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                left[i] = tile_a[now][k][i / 4 * 64 + down * 4 + i % 4];
                above[i] = tile_b[now][k][i / 4 * 64 + across * 4 + i % 4];
            }
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    own[i][j] += left[i] * above[j];
        }
        if (more)
            store(1 - now);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const size_t row = blockIdx.y * side + i / 4 * 64 + down * 4 + i % 4;
            c[row * n + blockIdx.x * side + j / 4 * 64 + across * 4 + j % 4] = own[i][j];
        }
}
