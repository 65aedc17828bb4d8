"""Programs and kernels that misbehave. Each has what `check` should say (its status), and needs so much at most.

Used by programs.py (through run and check) and programs_window.py (through the window).
"""

HEAD = "import ctypes, os, signal, sys, threading, time\nimport numpy as np\nfrom numba import cuda, float32, int32\na = np.zeros(64, np.float32)\n\n"
KERNEL = "@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n    if i < a.size:\n        a[i] = i\n\n"


def kernel(body: str, launch: str = "k[1, 32](a)", more: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"{HEAD}{more}@cuda.jit\ndef k(a):\n{lines}\n\n{launch}\n"


# name: (text, allowed statuses of `check`; None where it never ends by itself)
PROGRAMS: dict[str, tuple[str, tuple[int, ...] | None]] = {
    "fine": (HEAD + KERNEL + "k[2, 32](a)\n", (0,)),
    "endless, no access": (kernel("while True:\n    pass"), None),
    "endless, counts": (kernel("i = 0\nwhile True:\n    i += 1"), None),
    "endless, reads": (kernel("while a[0] == 0:\n    pass"), (1,)),
    "endless, writes": (kernel("while True:\n    a[cuda.grid(1)] += 1"), None),
    "endless, one thread at a barrier": (
        kernel("t = cuda.threadIdx.x\nwhile t == 0:\n    cuda.syncthreads()\na[t] = 1"),
        (1, 2),
    ),
    "endless, lock": (kernel("while cuda.atomic.cas(a.view(np.int32), 0, 0, 1) != 0:\n    pass"), None),
    "spin lock of a warp": (
        kernel("while cuda.atomic.exch(a, 0, 1) != 0:\n    pass\na[1] += 1\ncuda.atomic.exch(a, 0, 0)"),
        (0, 1, 2),
    ),
    "recursion": (
        kernel("a[0] = f(3)", more="@cuda.jit(device=True)\ndef f(x):\n    return f(x) + 1\n\n"),
        (1, 2),
    ),
    "mutual recursion": (
        kernel(
            "a[0] = f(3)",
            more="@cuda.jit(device=True)\ndef f(x):\n    return g(x)\n\n@cuda.jit(device=True)\ndef g(x):\n    return f(x)\n\n",
        ),
        (1, 2),
    ),
    "kernel raises": (kernel("if cuda.grid(1) == 7:\n    raise ValueError('seven')\na[0] = 1"), (1, 2)),
    "kernel divides by 0": (kernel("a[cuda.grid(1)] = 1 // (cuda.grid(1) - 3)"), (0, 1, 2)),
    "kernel raises SystemExit": (kernel("raise SystemExit(3)"), (1, 2)),
    "kernel raises KeyboardInterrupt": (kernel("raise KeyboardInterrupt"), (1, 2, 130)),
    "kernel asserts": (kernel("assert cuda.grid(1) < 3\na[0] = 1"), (1, 2)),
    "kernel opens a file": (kernel("open('written-by-kernel', 'w')"), (1, 2)),
    "kernel imports": (kernel("import os\nos._exit(7)"), (1, 2)),
    "kernel calls os._exit": (kernel("os._exit(7)"), (1, 2)),
    "kernel sleeps": (kernel("time.sleep(0.01)\na[0] = 1"), (0, 1, 2)),
    "kernel calls ctypes": (kernel("ctypes.string_at(0)"), (1, 2)),
    "kernel allocates": (kernel("x = np.zeros(10 ** 9)\na[0] = x[3]"), (1, 2)),
    "kernel sets a global": (kernel("global G\nG = 3\na[0] = 1"), (0, 1, 2)),
    "kernel launches a kernel": (kernel("k[1, 1](a)"), (1, 2)),
    "program raises": (HEAD + KERNEL + "k[2, 32](a)\nraise ValueError('x')\n", (2,)),
    "program raises before": (HEAD + KERNEL + "raise ValueError('x')\n", (2,)),
    "exits with 3": (HEAD + KERNEL + "k[2, 32](a)\nsys.exit(3)\n", (2,)),
    "exits with a text": (HEAD + KERNEL + "k[2, 32](a)\nsys.exit('bye')\n", (2,)),
    "exits with None": (HEAD + KERNEL + "k[2, 32](a)\nsys.exit()\n", (0,)),
    "exits with 2**40": (HEAD + KERNEL + "k[2, 32](a)\nsys.exit(2 ** 40)\n", (0, 2)),
    "exits with -1": (HEAD + KERNEL + "k[2, 32](a)\nsys.exit(-1)\n", (2,)),
    "os._exit": (HEAD + KERNEL + "k[2, 32](a)\nos._exit(0)\n", (0,)),
    "os._exit(5)": (HEAD + KERNEL + "k[2, 32](a)\nos._exit(5)\n", (2,)),
    "os.abort": (HEAD + KERNEL + "k[2, 32](a)\nos.abort()\n", (-6,)),
    "kills itself": (HEAD + KERNEL + "k[2, 32](a)\nos.kill(os.getpid(), signal.SIGKILL)\n", (-9,)),
    "segfault": (HEAD + KERNEL + "k[2, 32](a)\nctypes.string_at(0)\n", (-11,)),
    "interrupts itself": (
        HEAD + KERNEL + "k[2, 32](a)\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(1)\n",
        (2, 130),
    ),
    "raises KeyboardInterrupt": (HEAD + KERNEL + "k[2, 32](a)\nraise KeyboardInterrupt\n", (2, 130)),
    "memory": (
        HEAD
        + KERNEL
        + "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\nk[2, 32](a)\nx = [bytearray(10 ** 8) for _ in range(100)]\n",
        (2,),
    ),
    "memory before a launch": (
        HEAD
        + KERNEL
        + "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\nbig = np.zeros(10 ** 8, np.float32)\nk[10 ** 5, 1024](big)\n",
        (0, 1, 2),
    ),
    "million prints": (HEAD + KERNEL + "k[2, 32](a)\nfor i in range(10 ** 6):\n    print(i)\n", (0,)),
    "prints without end of line": (
        HEAD
        + KERNEL
        + "k[2, 32](a)\nsys.stdout.write('x' * 50_000_000)\nsys.stderr.write('y' * 50_000_000)\n",
        (0,),
    ),
    "kernel prints": (kernel("for i in range(2000):\n    print(i)\na[0] = 1"), (0, 1)),
    "small fork bomb": (HEAD + KERNEL + "for _ in range(5):\n    os.fork()\nk[2, 32](a)\n", (0, 2)),
    "child outlives": (
        HEAD + KERNEL + "k[2, 32](a)\nif os.fork() == 0:\n    time.sleep(3)\n    os._exit(0)\n",
        (0,),
    ),
    "threads launch": (
        HEAD
        + KERNEL
        + "ts = [threading.Thread(target=lambda: [k[2, 32](np.zeros(64, np.float32)) for _ in range(5)]) for _ in range(8)]\n[t.start() for t in ts]\n[t.join() for t in ts]\n",
        (0,),
    ),
    "a thread goes on": (
        HEAD
        + KERNEL
        + "def f():\n    for _ in range(5):\n        time.sleep(0.2)\n        k[2, 32](a)\nthreading.Thread(target=f).start()\n",
        (0,),
    ),
    "a thread raises": (
        HEAD + KERNEL + "k[2, 32](a)\nt = threading.Thread(target=lambda: 1 // 0)\nt.start()\nt.join()\n",
        (0,),
    ),
    "multiprocessing": (
        HEAD
        + KERNEL
        + "import multiprocessing as mp\ndef f(i):\n    b = np.zeros(64, np.float32)\n    k[2, 32](b)\n    return b.sum()\nif __name__ == '__main__':\n    with mp.get_context('fork').Pool(2) as p:\n        p.map(f, range(4))\n    k[2, 32](a)\n",
        (0,),
    ),
    "spawn": (
        HEAD
        + KERNEL
        + "import multiprocessing as mp\ndef f(i):\n    return i\nif __name__ == '__main__':\n    with mp.get_context('spawn').Pool(2) as p:\n        p.map(f, range(4))\n    k[2, 32](a)\n",
        (0,),
    ),
    "writes over itself": (
        HEAD + KERNEL + "open(__file__, 'a').write('\\n\\nraise SystemExit(9)\\n')\nk[2, 32](a)\n",
        (0,),
    ),
    "removes itself": (HEAD + KERNEL + "os.unlink(__file__)\nk[2, 32](a)\n", (0,)),
    "changes the folder": (HEAD + KERNEL + "os.chdir('/')\nk[2, 32](a)\n", (0,)),
    "removes its folder": (
        HEAD + KERNEL + "import shutil\nshutil.rmtree(os.getcwd())\nk[2, 32](a)\n",
        (0, 2),
    ),
    "closes the streams": (HEAD + KERNEL + "k[2, 32](a)\nsys.stdout.close()\nsys.stderr.close()\n", (0,)),
    "closes the descriptors": (HEAD + KERNEL + "k[2, 32](a)\nos.closerange(0, 200)\n", (0, 2)),
    "redirects the streams": (HEAD + KERNEL + "k[2, 32](a)\nsys.stdout = sys.stderr = None\n", (0,)),
    "no recursion left": (HEAD + KERNEL + "sys.setrecursionlimit(60)\nk[2, 32](a)\n", (0, 1, 2)),
    "changes builtins": (
        HEAD + KERNEL + "import builtins\nbuiltins.len = lambda x: 3\nk[2, 32](a)\n",
        (0, 1, 2),
    ),
    "changes numpy": (HEAD + KERNEL + "np.zeros = np.empty = lambda *x, **y: None\nk[2, 32](a)\n", (0, 1, 2)),
    "ignores signals": (
        HEAD
        + KERNEL
        + "signal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nk[2, 32](a)\n",
        (0,),
    ),
    "atexit": (HEAD + KERNEL + "import atexit\natexit.register(lambda: print(1 // 0))\nk[2, 32](a)\n", (0,)),
    "syntax error": ("def f(:\n", (2,)),
    "not text": ("\0\0\0", (2,)),
    "not UTF-8": ("x = '\udcff'\n", (2,)),
    "1025 threads": (HEAD + KERNEL + "k[1, 1025](a)\n", (1, 2)),
    "0 threads": (HEAD + KERNEL + "k[1, 0](a)\n", (1, 2)),
    "0 blocks": (HEAD + KERNEL + "k[0, 32](a)\n", (1, 2)),
    "-1 blocks": (HEAD + KERNEL + "k[-1, 32](a)\n", (1, 2)),
    "float blocks": (HEAD + KERNEL + "k[1.5, 32](a)\n", (1, 2)),
    "text blocks": (HEAD + KERNEL + "k['1', 32](a)\n", (1, 2)),
    "4 dimensions": (HEAD + KERNEL + "k[(1, 1, 1, 1), 32](a)\n", (1, 2)),
    "65 deep block": (HEAD + KERNEL + "k[1, (1, 1, 65)](a)\n", (1, 2)),
    "65536 high grid": (HEAD + KERNEL + "k[(1, 65536), 1](a)\n", (1, 2)),
    "2**31 blocks": (HEAD + KERNEL + "k[2 ** 31, 1](a)\n", (1, 2)),
    "3-D": (
        HEAD
        + "@cuda.jit\ndef k(a):\n    x, y, z = cuda.grid(3)\n    if x < 4 and y < 4 and z < 4:\n        a[x, y, z] = x + y + z\nk[(2, 2, 2), (2, 2, 2)](np.zeros((4, 4, 4), np.float32))\n",
        (0,),
    ),
    "million blocks": (HEAD + KERNEL + "k[10 ** 6, 1](a)\n", (0, 1)),
    "million blocks that write": (
        HEAD
        + "@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n    a[i] = i\nk[10 ** 6, 32](np.zeros(32 * 10 ** 6, np.float32))\n",
        (0, 1),
    ),
    "huge shared memory": (
        HEAD
        + "@cuda.jit\ndef k(a):\n    t = cuda.shared.array(10 ** 6, float32)\n    t[0] = 1\n    a[0] = t[0]\nk[1, 1](a)\n",
        (0, 1, 2),
    ),
    "huge dynamic memory": (
        HEAD
        + "@cuda.jit\ndef k(a):\n    t = cuda.shared.array(0, float32)\n    t[0] = 1\n    a[0] = t[0]\nk[1, 1, 0, 10 ** 9](a)\n",
        (0, 1, 2),
    ),
    "huge local memory": (
        HEAD
        + "@cuda.jit\ndef k(a):\n    t = cuda.local.array(10 ** 7, float32)\n    t[0] = 1\n    a[0] = t[0]\nk[1, 32](a)\n",
        (0, 1, 2),
    ),
    "no arguments": (HEAD + "@cuda.jit\ndef k():\n    pass\nk[1, 32]()\n", (0,)),
    "too many arguments": (HEAD + KERNEL + "k[1, 32](a, a)\n", (1, 2)),
    "an object": (HEAD + KERNEL + "k[1, 32](object())\n", (1, 2)),
    "None": (HEAD + KERNEL + "k[1, 32](None)\n", (1, 2)),
    "a list": (HEAD + KERNEL + "k[1, 32]([1, 2, 3])\n", (1, 2)),
    "an array of objects": (HEAD + KERNEL + "k[1, 32](np.array([None, 1]))\n", (1, 2)),
    "an empty array": (HEAD + KERNEL + "k[1, 32](np.zeros(0, np.float32))\n", (0, 1)),
    "a read-only array": (HEAD + KERNEL + "a.flags.writeable = False\nk[1, 32](a)\n", (0, 1, 2)),
    "a strange shape": (
        HEAD + "@cuda.jit\ndef k(a):\n    a[0, 0, 0, 0, 0, 0, 0, 0] = 1\nk[1, 1](np.zeros((1,) * 8))\n",
        (0,),
    ),
    "negative strides": (HEAD + KERNEL + "k[2, 32](a[::-1])\n", (2,)),  # Numba copies no such array to a GPU
    "broadcast": (HEAD + KERNEL + "k[2, 32](np.lib.stride_tricks.as_strided(a, (64,), (0,)))\n", (0, 1)),
    "numbers beyond all": (HEAD + "@cuda.jit\ndef k(a, n):\n    a[0] = n\nk[1, 1](a, 2 ** 200)\n", (0, 1, 2)),
    "names of kernels": (HEAD + "@cuda.jit\ndef __x__é(a):\n    a[0] = 1\n__x__é[1, 1](a)\n", (0,)),
    "exec'd kernel": (HEAD + "s = '''@cuda.jit\ndef k(a):\n    a[0] = 1\n'''\nexec(s)\nk[1, 1](a)\n", (0,)),
    "lambda kernel": (HEAD + "k = cuda.jit(lambda a: None)\nk[1, 1](a)\n", (0, 2)),
    "thousand launches": (HEAD + KERNEL + "for _ in range(1000):\n    k[2, 32](a)\n", (0,)),
    "infinite loop in the program": (HEAD + KERNEL + "k[2, 32](a)\nwhile True:\n    pass\n", None),
    "reads its input": (HEAD + KERNEL + "k[2, 32](a)\nsys.stdin.read()\n", (0,)),
    "modules of the same names": (HEAD + "import json, random, types\n" + KERNEL + "k[2, 32](a)\n", (0,)),
}
