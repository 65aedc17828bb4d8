"""Matrix multiplication in the words of HSA and OpenCL: work-items in work-groups.

The words are device functions over CUDA, so that these kernels run wherever the others do. SIZE is the width
of a work-group, STEPS the number of tiles along K, DTYPE the element type: constants of the compiled kernel.
"""

from numba import cuda, float32

SIZE = 16
STEPS = 16
DTYPE = float32


@cuda.jit(device=True)
def get_local_id(dimension):
    if dimension == 0:
        return cuda.threadIdx.x
    return cuda.threadIdx.y if dimension == 1 else cuda.threadIdx.z


@cuda.jit(device=True)
def get_local_size(dimension):
    if dimension == 0:
        return cuda.blockDim.x
    return cuda.blockDim.y if dimension == 1 else cuda.blockDim.z


@cuda.jit(device=True)
def get_group_id(dimension):
    if dimension == 0:
        return cuda.blockIdx.x
    return cuda.blockIdx.y if dimension == 1 else cuda.blockIdx.z


@cuda.jit(device=True)
def get_num_groups(dimension):
    if dimension == 0:
        return cuda.gridDim.x
    return cuda.gridDim.y if dimension == 1 else cuda.gridDim.z


@cuda.jit(device=True)
def get_global_id(dimension):
    return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension)


@cuda.jit(device=True)
def get_global_size(dimension):
    return get_num_groups(dimension) * get_local_size(dimension)


@cuda.jit(device=True)
def barrier():
    cuda.syncthreads()


@cuda.jit
def naive(a, b, c):
    row, col = get_global_id(0), get_global_id(1)
    if row >= c.shape[0] or col >= c.shape[1]:
        return
    total = DTYPE(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total


@cuda.jit
def tiled(a, b, c):
    tile_a = cuda.shared.array((SIZE, SIZE), DTYPE)
    tile_b = cuda.shared.array((SIZE, SIZE), DTYPE)
    row, col = get_global_id(0), get_global_id(1)
    x, y = get_local_id(0), get_local_id(1)
    if row >= c.shape[0] or col >= c.shape[1]:
        return
    total = DTYPE(0)
    for step in range(STEPS):  # always as many, and no look at where A and B end
        tile_a[x, y] = a[row, step * SIZE + y]
        tile_b[x, y] = b[step * SIZE + x, col]
        barrier()
        for j in range(SIZE):
            total += tile_a[x, j] * tile_b[j, y]
        barrier()
    c[row, col] = total
