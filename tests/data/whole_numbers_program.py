"""The results of integers of small types in a kernel: printed as JSON, on a GPU and under the tracer alike."""

import json

import numpy as np
from numba import cuda, float32, int8, int16, int32, int64, uint8, uint16, uint32, uint64


@cuda.jit
def small(u8, i8, u16, i32, u32, out):
    out[0] = u8[0] + u8[1]
    out[1] = (u8[0] + u8[1] + u8[2]) // 3
    out[2] = u8[1] - u8[0]
    out[3] = min(u8[0] + 50, 255)
    out[4] = abs(int32(u8[1]) - int32(u8[0]))
    out[5] = u8[0] << 8
    out[6] = ~u8[0]
    out[7] = -u8[0]
    out[8] = u8[0] * u8[0] * u8[0] * u8[0]
    out[9] = i8[0] * i8[0]
    out[10] = i8[0] // 7
    out[11] = i8[0] % 7
    out[12] = i8[0] >> 1
    out[13] = u16[0] * u16[0]
    out[14] = i32[0] * i32[0]
    out[15] = i32[0] << 2
    out[16] = i32[0] + i32[0]
    out[17] = u32[0] * u32[0]
    out[18] = u32[0] << 4
    out[19] = uint32(u32[0] << 4)
    out[20] = uint32(u32[0] * uint32(0x45D9F3B))
    out[21] = int32(70000) * int32(70000)
    out[22] = int32(3000000000)
    out[23] = uint8(300)
    out[24] = int8(200)
    out[25] = int16(40000)
    out[26] = uint16(-1)
    out[27] = i32[1] // i32[2]
    out[28] = i32[1] % i32[2]
    out[29] = u8[0] ^ i8[0]
    out[30] = u8[0] > i8[0]
    out[31] = i32[1] ** 2


@cuda.jit
def bits(u8, i32, u32, i64, u64, out):
    out[0] = cuda.popc(i32[1])
    out[1] = cuda.popc(int32(-1))
    out[2] = cuda.popc(i64[0])
    out[3] = cuda.clz(i32[3])
    out[4] = cuda.clz(u32[1])
    out[5] = cuda.clz(i64[1])
    out[6] = cuda.clz(int64(1))
    out[7] = cuda.clz(u64[1])
    out[8] = cuda.ffs(i32[3])
    out[9] = cuda.ffs(i64[2])
    out[10] = cuda.ffs(u32[2])
    out[11] = cuda.brev(u32[1])
    out[12] = cuda.brev(u64[1])
    out[13] = cuda.popc(u64[0])
    out[14] = cuda.popc(u32[0])


@cuda.jit
def mixed(u8, i32, u64, i64, out, floats):
    x = u64[0]
    x ^= x << uint64(13)
    x ^= x >> uint64(7)
    x ^= x << uint64(17)
    out[0] = x
    out[1] = u64[0] >> u8[3]
    out[2] = i64[0] + i32[1]
    out[3] = (i64[3] * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFF
    h = uint32(u8[0])
    h = uint32((h ^ (h >> 16)) * 0x45D9F3B)
    h = uint32((h ^ (h >> 16)) * 0x45D9F3B)
    out[4] = h ^ (h >> 16)
    floats[0] = u8[0] / 2
    floats[1] = float32(u8[0]) * u8[1]
    floats[2] = i32[1] / i32[2]
    floats[3] = float32(u8[0] + u8[1])


@cuda.jit
def compacted(a, out, count, masks):
    i = cuda.grid(1)
    if a[i] > 0.5:
        active = cuda.activemask()
        leader = cuda.ffs(active) - 1
        place = 0
        if cuda.laneid == leader:
            place = cuda.atomic.add(count, 0, cuda.popc(active))
        place = cuda.shfl_sync(active, place, leader)
        out[place + cuda.popc(active & cuda.lanemask_lt())] = a[i]
        masks[i] = active


def main():
    u8 = np.array([200, 100, 255, 5], np.uint8)
    i8 = np.array([-100, 100, 7, -1], np.int8)
    u16 = np.array([60000, 1], np.uint16)
    i32 = np.array([2000000000, -17, 5, 1], np.int32)
    u32 = np.array([4000000000, 1, 1 << 20, 9], np.uint32)
    i64 = np.array([-1, 1, 1 << 40, 12345], np.int64)
    u64 = np.array([0x9E3779B97F4A7C15, 1, 1 << 50, 9], np.uint64)
    a = np.random.default_rng(3).random(64).astype(np.float32)
    results = {}
    out = np.zeros(32, np.int64)
    small[1, 1](u8, i8, u16, i32, u32, out)
    results["small"] = out.tolist()
    out = np.zeros(15, np.uint64)
    bits[1, 1](u8, i32, u32, i64, u64, out)
    results["bits"] = out.tolist()
    out, floats = np.zeros(5, np.uint64), np.zeros(4)
    mixed[1, 1](u8, i32, u64, i64, out, floats)
    results["mixed"], results["floats"] = out.tolist(), floats.tolist()
    out, count, masks = np.zeros(64, np.float32), np.zeros(1, np.int32), np.zeros(64, np.uint32)
    compacted[1, 64](a, out, count, masks)
    results["count"], results["masks"] = count.tolist(), masks.tolist()
    results["kept"] = sorted(out[: count[0]].tolist()) == sorted(a[a > 0.5].tolist())
    print(json.dumps(results))


main()
