"""The limits of a device: copies, a large product of matrices, multiply-adds with all operands in registers.

The product is computed by cuBLAS if it is installed, since that shows what the device can reach; numba-cuda does not
include it. It is also always computed by kernels/cuda_c/large_product.cu. Each limit names its method.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ....kernels.scenarios.catalogue import CudaC
from ...model.launch import Launch
from .cuda_c import CudaCKernel
from .gpu import Gpu, median_of
from .measurement import Ceilings, Peak, Real

SIDES = (2048, 4096, 8192)  # large_product.cu needs multiples of 128
LONGEST = 100_000.0  # microseconds of one product
SHARE = 4  # the matrices use at most 1 / SHARE of the free memory
CHECKED = 16  # elements that are compared with NumPy
OWN = CudaC("large_product.cu", "large_product<{real}>", numbers=("n",))
C_NAMES: dict[Real, str] = {"float32": "float", "float64": "double"}
ROUTINES: dict[Real, str] = {"float32": "cublasSgemm_v2", "float64": "cublasDgemm_v2"}
PLAIN = 0  # no transposition, and the default arithmetic without TF32
Multiply = Callable[[], None]


class CublasError(Exception):
    """cuBLAS is missing, or does not work with this driver."""


def ceilings_of(gpu: Gpu) -> Ceilings:
    """Measure the limits of the device; each is the median of ten."""
    return Ceilings(gpu.copy_rate(), _peaks(gpu), gpu.empty_time(), gpu.two_events)


def _peaks(gpu: Gpu) -> tuple[Peak, ...]:
    """Measure the arithmetic in each dtype: correct products, and registers."""
    reals: tuple[Real, ...] = ("float32", "float64")
    return tuple(peak for real in reals for peak in (*_products(gpu, real), _registers(gpu, real)))


def _registers(gpu: Gpu, real: Real) -> Peak:
    rate = median_of(lambda: gpu.arithmetic(20_000, real))
    return Peak(real, "registers", "multiply-adds in registers", rate)


def _products(gpu: Gpu, real: Real) -> Iterator[Peak]:
    matrices = Matrices(gpu, real, _side(gpu, real))
    size = f"{matrices.n} x {matrices.n}"
    try:
        with Cublas(gpu) as cublas:
            multiply = cublas.product(matrices)
            if rate := _rate(matrices, multiply):
                suffix = ", TF32 off" if real == "float32" else ""
                name = ROUTINES[real].removeprefix("cublas")[:5].upper()
                yield Peak(real, "cublas", f"product {size}, cuBLAS {cublas.version} {name}{suffix}", rate)
    except CublasError:
        pass  # the usual case; the other kernel follows
    if rate := _rate(matrices, own_product(matrices)):
        yield Peak(real, "cuda-c", f"product {size}, {OWN.file}", rate)


def _side(gpu: Gpu, real: Real) -> int:
    """Return the largest side for which the matrices fit and a product is fast enough."""
    smallest = SIDES[0]
    multiply = own_product(Matrices(gpu, real, smallest))
    time = gpu.kernel_time(multiply, flush=False)
    room = gpu.free_memory() / SHARE / np.dtype(real).itemsize / 3
    return max([smallest, *(n for n in SIDES if time * (n / smallest) ** 3 <= LONGEST and n * n <= room)])


def _rate(matrices: Matrices, multiply: Multiply) -> float:
    """Measure the median GFLOP/s of ten products, with 2 n^3 operations each; 0 if the product is wrong."""
    gpu, n = matrices.gpu, matrices.n
    matrices.clear()
    multiply()
    gpu.synchronize()  # libraries initialise themselves at their first call
    rate = median_of(lambda: 2 * n**3 / gpu.kernel_time(multiply, flush=False) / 1000)
    return rate if matrices.is_product_correct() else 0.0


class Matrices:
    """C = A B on the device, all n x n, row-major; A and B hold the same random numbers in every run."""

    def __init__(self, gpu: Gpu, real: Real, n: int) -> None:
        self.gpu, self.real, self.n = gpu, real, n
        random = np.random.default_rng(0)
        self._host = [random.random((n, n), real) for _ in range(2)]
        self._device = [gpu.on_device(a) for a in (*self._host, np.zeros((n, n), real))]

    @property
    def pointers(self) -> list[int]:
        """The addresses of A, B and C on the device."""
        return [int(a.__cuda_array_interface__["data"][0]) for a in self._device]

    def clear(self) -> None:
        """Fill C with zeros."""
        self._device[2].copy_to_device(np.zeros((self.n, self.n), self.real))

    def is_product_correct(self) -> bool:
        """Compare some elements of C with A B, up to rounding."""
        c, random = self._device[2].copy_to_host(), np.random.default_rng(1)
        a, b = (matrix.astype(np.float64, copy=False) for matrix in self._host)
        positions = random.integers(0, self.n, (CHECKED, 2)).tolist()
        expected = np.array([a[row] @ b[:, column] for row, column in positions])
        computed = np.array([c[row, column] for row, column in positions], np.float64)
        return bool(np.all(np.abs(computed - expected) <= self.n * np.finfo(self.real).eps * expected))


def own_product(matrices: Matrices) -> Multiply:
    """Return a function that queues the product by large_product.cu."""
    n, blocks = matrices.n, matrices.n // 128
    launch = Launch("large_product", "", (), (blocks, blocks, 1), (256, 1, 1))
    values: dict[str, int | str] = {"n": n, "real": C_NAMES[matrices.real]}
    kernel = CudaCKernel(OWN, values, launch, int(matrices.gpu.stream))
    return lambda: kernel.enqueue(matrices.pointers)


class Cublas:
    """cuBLAS on the GPU's stream; raises CublasError, also when used."""

    def __init__(self, gpu: Gpu) -> None:
        self._library = _library()
        self._handle = ctypes.c_void_p()
        self._call("cublasCreate_v2", ctypes.byref(self._handle))
        self._call("cublasSetStream_v2", self._handle, ctypes.c_void_p(int(gpu.stream)))
        self._call("cublasSetMathMode", self._handle, PLAIN)

    def __enter__(self) -> Cublas:
        return self

    def __exit__(self, *_: object) -> None:
        self._call("cublasDestroy_v2", self._handle)

    @property
    def version(self) -> str:
        """The version: 13.1."""
        version = ctypes.c_int()
        self._call("cublasGetVersion_v2", self._handle, ctypes.byref(version))
        return f"{version.value // 10_000}.{version.value // 100 % 100}"

    def product(self, matrices: Matrices) -> Multiply:
        """Return a function that queues the product of square matrices."""
        n = matrices.n
        return lambda: self.multiply(matrices.real, (n, n, n), matrices.pointers)

    def multiply(self, dtype: Real, sizes: tuple[int, int, int], pointers: Sequence[int]) -> None:
        """Queue C = A B, A of M x K and B of K x N, row-major.

        cuBLAS is column-major, so the call computes the product of B and A.
        """
        m, k, n = sizes
        real = ctypes.c_float if dtype == "float32" else ctypes.c_double
        alpha, beta = real(1), real(0)
        a, b, c = map(ctypes.c_void_p, pointers)
        arguments = (PLAIN, PLAIN, n, m, k, ctypes.byref(alpha), b, n, a, k, ctypes.byref(beta), c, n)
        self._call(ROUTINES[dtype], self._handle, *arguments)

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise CublasError(f"{name} returned {status}")


def _library() -> ctypes.CDLL:
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        return ctypes.CDLL(load_nvidia_dynamic_lib("cublas").abs_path)
    except (ImportError, RuntimeError, OSError) as error:
        raise CublasError(str(error)) from error
