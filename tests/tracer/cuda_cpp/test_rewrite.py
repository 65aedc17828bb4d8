"""The rewriting of CUDA C++: lines stay, launches become calls, and nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.tracer.cuda_cpp.rewrite import (
    kernel_names,
    read_sources,
    rewrite,
    template_kernels,
    tokenize,
    write_mirror,
)

PIECES = st.sampled_from(
    ["<<<", ">>>", "(", ")", "a", " ", "\n", "::", "__shared__", "extern", "float", ";", "[", "]", '"x"', "//", "/*",
     "*/", "{", "}", ",", "#define", "asm", "'", "R\"(", ")\""]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join) | st.text())
def test_the_tokens_of_any_text_are_the_text_and_rewriting_keeps_its_lines(text):
    assert "".join(token.text for token in tokenize(text)) == text
    assert rewrite(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k<<<1, 2>>>(a, b);", 'tilescope_kernel("k", TilescopeConfig(__FILE__, __LINE__, 1, 2), k)(a, b);'),
        (
            "k<T, 4><<<g, b, 0, s>>>(a);",
            'tilescope_run("k<T, 4>", TilescopeConfig(__FILE__, __LINE__, g, b, 0, s), '
            "TILESCOPE_CALL_TEMPLATE(k<T, 4>),a);",
        ),
        (
            "ns::k<<<f(1, 2), 3>>>();",
            'tilescope_kernel("ns::k", TilescopeConfig(__FILE__, __LINE__, f(1, 2), 3), ns::k)();',
        ),
        (
            "extern __shared__ float s[];",
            "float* const s __attribute__((unused)) = (float*)tilescope_dynamic;",
        ),
        (
            "extern __shared__ __align__(16) unsigned char s[];",
            "unsigned char* const s __attribute__((unused)) = (unsigned char*)tilescope_dynamic;",
        ),
        ("__shared__ alignas(16) float s[4];", "alignas(16) __shared__ float s[4];"),
        ("{ atomicAdd(&x, 1); y = atomicAdd(&x, 1); }", "{ AtomicAdd(&x, 1); y = atomicAdd(&x, 1); }"),
        ("if (a) atomicMax(p, v);", "if (a) AtomicMax(p, v);"),
        (
            'asm volatile("mov.u32 %0, %%smid;" : "=r"(x));',
            "do { (x) = (unsigned)(((unsigned)(tilescope_register_smid()))); } while (0);",
        ),
        (
            'asm("mov.u64 %0, %globaltimer;"\n : "=l"(t) :: "memory");',
            "do { (t) = (unsigned long long)(((unsigned long long)(tilescope_register_globaltimer()))); } while (0)\n;",
        ),
        (
            'asm("bfind.u32 %0, %1;" : "=r"(x) : "r"(y));',
            'tilescope_missing("inline PTX: bfind.u32", __FILE__, __LINE__);',
        ),
        ("p.func = (void*)add;", "p.func =add;"),
        ("// k<<<1, 2>>>(a)\n", "// k<<<1, 2>>>(a)\n"),
        ('"k<<<1, 2>>>(a)"', '"k<<<1, 2>>>(a)"'),
        ("a << b >> c; x<y<z>> w;", "a << b >> c; x<y<z>> w;"),
    ],
)
def test_what_a_text_becomes(text, expected):
    assert rewrite(text) == expected


def test_a_launch_of_a_template_without_arguments_is_known_by_its_declaration():
    text = "template <class T> __global__ void k(T* a) {}\nvoid f(float* a) { k<<<1, 1>>>(a); }"
    assert "tilescope_run" in rewrite(text, frozenset(["k"]))
    assert kernel_names(text) == ["k"]


def test_a_name_with_several_kernels_is_resolved_by_the_arguments():
    first, two = "__global__ void k(int* a) { }\n", "__global__ void k(int* a, int n) { }\n"
    assert template_kernels(first + two) == {"k"} and template_kernels(first) == frozenset()


def test_a_launch_over_several_lines_keeps_the_lines_below(tmp_path):
    text = "void f() {\n  k<<<dim3(1,\n    2), 3>>>(\n    a);\n  int here;\n}\n"
    assert rewrite(text).splitlines()[4].strip() == "int here;"


def test_included_files_of_the_program_are_rewritten_too(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "kernels.cuh").write_text("inline void go() { k<<<1, 1>>>(); }\n")
    main = tmp_path / "main.cu"
    main.write_text('#include "inc/kernels.cuh"\n#include <vector>\n#include "missing.h"\n')
    sources = read_sources(main)
    assert sorted(path.name for path in sources.texts) == ["kernels.cuh", "main.cu"]
    copy = write_mirror(sources, tmp_path / "mirror")
    assert "tilescope_kernel" in (copy.parent / "inc" / "kernels.cuh").read_text()
    assert copy.read_text().startswith(f'#line 1 "{main}"\n')
