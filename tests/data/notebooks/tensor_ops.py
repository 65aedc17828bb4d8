"""Tensor operations in the style of a course's autodiff library: closures around device functions, strided tensors."""

import numpy as np
from numba import cuda
from numba.cuda import jit as cuda_jit

MAX_DIMS = 6
THREADS = 32
REDUCED = 1024  # threads of a block that reduces


def device_jit(fn, **kwargs):
    return cuda_jit(device=True, **kwargs)(fn)


def to_index(ordinal, shape, out_index):
    rest = ordinal + 0
    for i in range(len(shape) - 1, -1, -1):
        out_index[i] = rest % shape[i]
        rest = rest // shape[i]


def index_to_position(index, strides):
    position = 0
    for i, stride in zip(index, strides):  # noqa: B905  # Numba has no `strict`
        position += i * stride
    return position


def broadcast_index(big_index, big_shape, shape, out_index):
    for i, size in enumerate(shape):
        if size > 1:
            out_index[i] = big_index[i + (len(big_shape) - len(shape))]
        else:
            out_index[i] = 0


to_index = device_jit(to_index)
index_to_position = device_jit(index_to_position)
broadcast_index = device_jit(broadcast_index)


def tensor_map(fn):
    def _map(out, out_shape, out_strides, out_size, in_storage, in_shape, in_strides):
        out_index = cuda.local.array(MAX_DIMS, np.int32)
        in_index = cuda.local.array(MAX_DIMS, np.int32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < out_size:
            to_index(i, out_shape, out_index)
            broadcast_index(out_index, out_shape, in_shape, in_index)
            o = index_to_position(out_index, out_strides)
            j = index_to_position(in_index, in_strides)
            out[o] = fn(in_storage[j])

    return cuda.jit()(_map)


def tensor_zip(fn):
    def _zip(
        out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides
    ):
        out_index = cuda.local.array(MAX_DIMS, np.int32)
        a_index = cuda.local.array(MAX_DIMS, np.int32)
        b_index = cuda.local.array(MAX_DIMS, np.int32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < out_size:
            to_index(i, out_shape, out_index)
            o = index_to_position(out_index, out_strides)
            broadcast_index(out_index, out_shape, a_shape, a_index)
            j = index_to_position(a_index, a_strides)
            broadcast_index(out_index, out_shape, b_shape, b_index)
            k = index_to_position(b_index, b_strides)
            out[o] = fn(a_storage[j], b_storage[k])

    return cuda.jit()(_zip)


def tensor_reduce(fn):
    def _reduce(
        out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, reduce_dim, reduce_value
    ):
        cache = cuda.shared.array(REDUCED, np.float64)
        out_index = cuda.local.array(MAX_DIMS, np.int32)
        block, thread = cuda.blockIdx.x, cuda.threadIdx.x
        cache[thread] = reduce_value
        if block < out_size:
            to_index(block, out_shape, out_index)
            o = index_to_position(out_index, out_strides)
            out_index[reduce_dim] = out_index[reduce_dim] * REDUCED + thread
            if out_index[reduce_dim] < a_shape[reduce_dim]:
                cache[thread] = a_storage[index_to_position(out_index, a_strides)]
            cuda.syncthreads()
            step = 1
            while step < REDUCED:
                if thread % (2 * step) == 0:
                    cache[thread] = fn(cache[thread], cache[thread + step])
                cuda.syncthreads()
                step *= 2
            if thread == 0:
                out[o] = cache[0]

    return cuda_jit()(_reduce)


@cuda_jit()
def tensor_matrix_multiply(
    out, out_shape, out_strides, out_size, a_storage, a_shape, a_strides, b_storage, b_shape, b_strides
):
    a_batch_stride = a_strides[0] if a_shape[0] > 1 else 0
    b_batch_stride = b_strides[0] if b_shape[0] > 1 else 0
    batch = cuda.blockIdx.z
    side = 32
    a_shared = cuda.shared.array((32, 32), np.float64)
    b_shared = cuda.shared.array((32, 32), np.float64)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    pi, pj = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for start in range(0, a_shape[2], side):
        k = start + pj
        if i < a_shape[1] and k < a_shape[2]:
            a_shared[pi, pj] = a_storage[a_batch_stride * batch + a_strides[1] * i + a_strides[2] * k]
        k = start + pi
        if j < b_shape[2] and k < b_shape[1]:
            b_shared[pi, pj] = b_storage[b_batch_stride * batch + b_strides[1] * k + b_strides[2] * j]
        cuda.syncthreads()
        for k in range(side):
            if start + k < a_shape[2]:
                total += a_shared[pi, k] * b_shared[k, pj]
        cuda.syncthreads()
    if i < out_shape[1] and j < out_shape[2]:
        out[out_strides[0] * batch + out_strides[1] * i + out_strides[2] * j] = total


class Tensor:
    """A tensor in device memory, with shape and strides on the host."""

    def __init__(self, values, shape=None, strides=None):
        if shape is None:
            values = np.ascontiguousarray(values, np.float64)
            shape = values.shape
            strides = tuple(int(stride) // 8 for stride in values.strides)
            values = values.ravel()
        self.storage = values if cuda.is_cuda_array(values) else cuda.to_device(values)
        self.shape, self.strides = tuple(shape), tuple(strides)

    @property
    def size(self):
        return int(np.prod(self.shape))

    def tuple(self):
        return self.storage, np.array(self.shape, np.int32), np.array(self.strides, np.int32)

    def permute(self, *order):
        return Tensor(self.storage, [self.shape[i] for i in order], [self.strides[i] for i in order])

    def numpy(self):
        return np.lib.stride_tricks.as_strided(
            self.storage.copy_to_host(), self.shape, [8 * stride for stride in self.strides]
        ).copy()


def zeros(shape):
    return Tensor(np.zeros(shape))


class CudaOps:
    """The operations, as functions of tensors."""

    @staticmethod
    def map(fn):
        f = tensor_map(device_jit(fn))

        def ret(a):
            out = zeros(a.shape)
            f[(out.size + THREADS - 1) // THREADS, THREADS](*out.tuple(), out.size, *a.tuple())
            return out

        return ret

    @staticmethod
    def zip(fn):
        f = tensor_zip(device_jit(fn))

        def ret(a, b):
            out = zeros(np.broadcast_shapes(a.shape, b.shape))
            f[(out.size + THREADS - 1) // THREADS, THREADS](*out.tuple(), out.size, *a.tuple(), *b.tuple())
            return out

        return ret

    @staticmethod
    def reduce(fn, start=0.0):
        f = tensor_reduce(device_jit(fn))

        def ret(a, dim):
            shape = list(a.shape)
            shape[dim] = (a.shape[dim] - 1) // REDUCED + 1
            out = zeros(tuple(shape))
            f[out.size, REDUCED](*out.tuple(), out.size, *a.tuple(), dim, start)
            return out

        return ret

    @staticmethod
    def matrix_multiply(a, b):
        out = zeros((max(a.shape[0], b.shape[0]), a.shape[1], b.shape[2]))
        blocks = (out.shape[1] + 31) // 32, (out.shape[2] + 31) // 32, out.shape[0]
        tensor_matrix_multiply[blocks, (32, 32, 1)](*out.tuple(), out.size, *a.tuple(), *b.tuple())
        return out
