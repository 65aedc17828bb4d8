"""`tilescope run` and `check` on CUDA C++: files, Makefiles, and what ends a program."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from cuda_cpp import needs_compiler
from programs import run_tilescope
from tilescope.tracer.cuda_cpp.nvcc import NvccError, parse
from tilescope.tracer.storage.trace_file import load

pytestmark = needs_compiler
MAIN = """#include <cstdio>
#include <cstdlib>
__global__ void twice(int* a, int n) {
    int i = threadIdx.x;
    if (i < n)
        a[i] *= 2;
}
int main(int argc, char** argv) {
    int* a;
    cudaMalloc(&a, 128);
    cudaMemset(a, 0, 128);
    twice<<<1, 32>>>(a, 32);
    cudaDeviceSynchronize();
    printf("%d %s\\n", argc, argc > 1 ? argv[1] : "");
    cudaFree(a);
    return 3;
}
"""


@pytest.fixture
def program(tmp_path):
    def write(text: str = MAIN):
        path = tmp_path / "program.cu"
        path.write_text(text)
        return path

    return write


def test_run_prints_the_programs_output_and_saves_its_traces(program, tmp_path):
    done = run_tilescope("run", "--json", "lines.json", str(program()), "word", folder=tmp_path)
    assert (done.returncode, done.stdout) == (3, "2 word\n")
    trace = load(tmp_path / "tilescope-traces" / "000-twice.npz")
    assert trace.kernel == "twice" and len(trace) == 64
    (line,) = map(json.loads, (tmp_path / "lines.json").read_text().splitlines())
    assert line["kernel"] == "twice" and line["counters"]["global_load_requests"] == 1
    assert line["engine"] == "compiled" and line["findings"] == []


def test_check_names_the_files_as_the_user_did(program, tmp_path):
    program(MAIN.replace("i < n", "i <= n").replace("<<<1, 32>>>", "<<<1, 64>>>"))
    done = run_tilescope("check", "program.cu", folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("program.cu:6: error: bounds: 2 accesses to a on line 6 are outside it")
    assert "the array's length" in done.stdout and "cuda." not in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("int* a;", "it* a;", 9, "error: compile: Unknown type name|unknown type name|was not declared"),
        ("int main", "int mine", 1, "has no function main"),
        ("#include <cstdio>", "#include <nosuch.h>", 1, "there is no nosuch.h"),
        ("cudaDeviceSynchronize()", "cudaGraphDebugDotPrint(0)", 13, "Tilescope does not know cudaGraphDebugDotPrint"),
        ("<<<1, 32>>>", "<<<1, 2048>>>", 12, "the launch of twice is refused"),
        ("a[i] *= 2;", "while (n) { }", 6, "does not end"),
        ("a[i] *= 2;", "a[i - 1] *= 2;", 6, "which reads a[-1] where a GPU would read 4 bytes before its start"),
        ("cudaFree(a);", "a[0] = 1;", 15, "host code writes device memory"),
        ("a[i] *= 2;", "while (n) a[i] += 1;", 6, "does not end"),
        ("a[i] *= 2;", "*(int*)0 = 1;", 6, "the kernel is stopped on line 6"),
        ("a[i] *= 2;", "while (n) printf(\"x\");", 6, "does not end"),
        ("a[i] *= 2;", "if (i == 5) throw 3;", 6, "thread 5 of block 0 throws an exception"),
        ("a[i] *= 2;", "exit(3);", 6, "the kernel twice calls exit"),
        ("a[i] *= 2;", "a[i] /= n - 32;", 6, "the kernel twice divides an integer by 0"),
        ("a[i] *= 2;", "twice(a, n + 1);", 6, "the stack of a thread is full"),
        ("<<<1, 32>>>", "<<<dim3(1, 65536), 32>>>", 12, "the launch of twice is refused"),
        ("return 3;", "abort();", 16, "ended by SIGABRT"),
        ("return 3;", "throw 3;", 16, "ended by SIGABRT"),
        ("return 3;", "free(argv); free(argv);", 16, "ended by SIG"),
        ("return 3;", "system(\"kill -9 $PPID\");", 1, "ended by SIGKILL"),
        ("cudaFree(a);", "*(volatile int*)8 = 1;", 15, "ended by SIGSEGV"),
        ("cudaFree(a);", "", 10, "128 bytes of cudaMalloc are not freed"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_sentence_at_the_users_line(program, tmp_path, old, new, line, sentence):
    program(MAIN.replace(old, new))
    done = run_tilescope("check", "--patience", "2", "program.cu", folder=tmp_path)
    rows = [row for row in done.stdout.splitlines() if any(part in row for part in sentence.split("|"))]
    assert rows and rows[0].startswith(f"program.cu:{line}: "), done.stdout + done.stderr
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr
    launch_failed = any(word in rows[0] for word in ("does not end", "the kernel ", "is refused"))
    assert not launch_failed or "of which no launch ran" not in done.stderr


def test_a_forked_process_changes_nothing_in_its_parents_traces(program, tmp_path):
    child = (
        'if (fork() == 0) { twice<<<1, 32>>>(a, 32); printf("%d;", cudaGetLastError()); exit(0); } wait(0);'
    )
    text = "#include <sys/wait.h>\n#include <unistd.h>\n" + MAIN.replace(
        "cudaFree(a);", child + "cudaFree(a);"
    )
    program(text)
    done = run_tilescope("run", "--json", "lines.json", "program.cu", folder=tmp_path)
    assert done.returncode == 3 and "3;" in done.stdout  # cudaErrorInitializationError
    assert len((tmp_path / "lines.json").read_text().splitlines()) == 1 and "not freed" not in done.stderr


def test_a_programs_input_and_status_are_its_own(program, tmp_path):
    program(MAIN.replace("return 3;", 'int x; return scanf("%d", &x) == 1 ? x : 99;'))
    assert run_tilescope("run", "program.cu", folder=tmp_path, input="7\n").returncode == 7


def test_a_function_of_the_host_that_calls_itself_without_end_is_named(program, tmp_path):
    deep = "int deep(int n) {\n    volatile char c[999];\n    return c[n % 9] = deep(n + 1);\n}\n"
    program(deep + MAIN.replace("return 3;", "return deep(0);"))
    done = run_tilescope("check", "program.cu", folder=tmp_path)
    assert re.match(r"program.cu:[123]: error: launch: the stack of the program is full", done.stdout)


@pytest.mark.parametrize("grid", ["1 << 21", "dim3(2147483647, 65535, 9)"])
def test_of_a_launch_that_is_too_large_some_blocks_run(program, tmp_path, grid):
    program(MAIN.replace("<<<1, 32>>>", f"<<<{grid}, 1024>>>").replace("*= 2;", "= blockIdx.x ? a[i] : 0;"))
    done = run_tilescope("run", "--json", "lines.json", "program.cu", folder=tmp_path)
    assert "too many to run here. 4,096 of them ran" in done.stderr and done.returncode == 3
    (line,) = map(json.loads, (tmp_path / "lines.json").read_text().splitlines())
    assert [finding["kind"] for finding in line["findings"] if finding["severity"] == "note"] == ["part"]


def test_a_byte_order_mark_and_windows_lines_are_read(program, tmp_path):
    program().write_bytes(b"\xef\xbb\xbf" + MAIN.replace("\n", "\r\n").encode())
    assert run_tilescope("run", "program.cu", folder=tmp_path).stdout == "1 \n"


def test_options_of_numbas_kernels_are_refused(program, tmp_path):
    path = str(program())
    for words in (("--blocks", "0"), ("--engine", "simulator")):
        done = run_tilescope("check", *words, path, folder=tmp_path)
        assert done.returncode == 2 and "is for Numba's kernels" in done.stderr


MAKEFILE = """NVCC ?= nvcc
test: program
\t./program word
program: main.o kernels.o
\t$(NVCC) -arch=sm_90 $^ -o $@ -lcudart
%.o: %.cu
\t$(NVCC) -O3 -Iinclude -Xcompiler -Wall -dc $< -o $@
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_a_makefile_builds_with_the_stand_in_and_its_program_is_checked(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "kernels.h").write_text("__global__ void twice(int* a, int n);\n")
    kernel, rest = MAIN.split("int main")
    (tmp_path / "kernels.cu").write_text('#include "kernels.h"\n' + kernel.replace("i < n", "i <= n"))
    includes = '#include <cstdio>\n#include "kernels.h"\n'
    (tmp_path / "main.cu").write_text(f"{includes}int main{rest.replace('1, 32', '1, 64')}")
    (tmp_path / "Makefile").write_text(MAKEFILE)
    done = run_tilescope("check", "--", "make", "test", folder=tmp_path)
    assert "2 word" in done.stderr
    assert "kernels.cu:7: error: bounds: 2 accesses to a on line 7 are outside it" in done.stdout


def test_the_command_line_of_nvcc_is_read():
    words = "-O3 -gencode arch=compute_90,code=sm_90 -Iinc -I more -DN=3 -D M -lcublas -lfoo a.cu b.o -o out"
    line = parse(words.split())
    assert [str(path) for path in line.include_folders] == ["inc", "more"] and line.definitions == [
        "N=3",
        "M",
    ]
    assert line.linked == ["-lfoo"] and str(line.output) == "out"
    assert [str(path) for path in (*line.sources, *line.objects)] == ["a.cu", "b.o"]
    assert parse(["-c", "a.cu"]).compiles_only
    for words in (["-ptx", "a.cu"], ["a.cu", "-o"]):
        with pytest.raises(NvccError):
            parse(words)
