from numba import cuda


@cuda.jit
def negative(image, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] or col < image.shape[1]:
        out[row, col] = 255 - image[row, col]
