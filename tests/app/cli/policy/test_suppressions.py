"""Comments and baselines that suppress findings, and the rules that a check reports."""

from __future__ import annotations

import ast
import json
import shutil

import pytest

from programs import COPY, RACE, run_tilescope
from tilescope.app.cli.policy.add_ignore import with_ignores
from tilescope.app.cli.policy.suppressions import SuppressionError, read_suppressions

LINE = "    out[t] = tile[63 - t]\n"
IGNORED = RACE.replace(LINE, LINE.rstrip() + "  # tilescope: ignore[TS101] the demo needs it\n")


def check(folder, text, *words, name="race.py"):
    (folder / name).write_text(text)
    return run_tilescope("check", *words, name, folder=folder)


def test_a_comment_suppresses_the_finding_of_its_line(tmp_path):
    done = check(tmp_path, IGNORED, "--output-format", "concise", "--output-format", "json=r.json")
    assert (done.returncode, done.stdout) == (0, "no findings\n"), done.stderr
    assert "tilescope: 1 finding suppressed: 1 by comments.\n" in done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    (entry,) = report["suppressed"]
    assert report["findings"] == [] and entry["suppression"] == {
        "by": "comment",
        "reason": "the demo needs it",
        "line": 10,
    }


def test_sarif_keeps_a_suppressed_result_and_marks_it(tmp_path):
    done = check(tmp_path, IGNORED, "--output-format", "sarif")
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    (suppression,) = result["suppressions"]
    assert (suppression["kind"], suppression["justification"]) == ("inSource", "the demo needs it")


def test_a_comment_for_another_rule_suppresses_nothing_and_is_reported(tmp_path):
    done = check(tmp_path, IGNORED.replace("TS101", "TS201"))
    race, unused = done.stdout.splitlines()
    assert done.returncode == 1 and "race: " in race and race.endswith("[TS101 possible]")
    assert unused == (
        "race.py:10: warning: 1 comment suppresses TS201 (bounds), which no launch has on its line; delete it. "
        "[TS902 advice]"
    )


def test_a_comment_in_a_kernel_that_was_not_launched_is_not_called_unused(tmp_path):
    never = "\n@cuda.jit\ndef never(out):\n    out[0] = 1  # tilescope: ignore[TS101] known\n"
    done = check(tmp_path, COPY + never)
    assert done.stdout == "no findings\n" and "never (race.py:" in done.stderr


def test_unused_comments_are_a_rule_that_can_be_ignored(tmp_path):
    done = check(tmp_path, IGNORED.replace("TS101", "TS201"), "--ignore", "TS9")
    assert "TS902" not in done.stdout


@pytest.mark.parametrize(
    ("comment", "sentence"),
    [
        ("tilescope: ignore[TS101]", "the suppression of TS101 has no reason; write it after the bracket."),
        ("tilescope: ignore[TS111] why", "there is no rule 'TS111'"),
        ("tilescope: ignore why", "the suppression names no rule"),
    ],
)
def test_a_faulty_comment_ends_with_one_sentence_before_the_program_runs(comment, sentence, tmp_path):
    done = check(tmp_path, "print('it ran')\n" + RACE.replace(LINE, f"{LINE.rstrip()}  # {comment}\n"))
    assert done.returncode == 2 and done.stdout == "" and "it ran" not in done.stderr
    assert done.stderr.startswith(f"tilescope: race.py:11: {sentence}") and done.stderr.count("\n") == 1


def test_a_faulty_comment_in_another_module_stops_the_report(tmp_path):
    kernel, launch = RACE.split("shift[1", 1)
    (tmp_path / "kernels.py").write_text(
        kernel.replace(LINE, LINE.rstrip() + "  # tilescope: ignore[TS101]\n")
    )
    done = check(tmp_path, f"import numpy as np\nfrom kernels import shift\nshift[1{launch}", name="main.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "kernels.py:10: the suppression of TS101 has no reason" in done.stderr


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("x = 1  # tilescope: ignore[TS101] r\n", (1, 1)),
        ("# tilescope: ignore[TS101] r\n\nx = 1\n", (3, 3)),
        ("x = (\n    1,\n)  # tilescope: ignore[TS101] r\n", (1, 3)),
        ("# tilescope: ignore[TS101] r\n@jit\ndef f():\n    pass\n", (2, 3)),
        ("for i in x:  # tilescope: ignore[TS101] r\n    y = 1\n", (1, 1)),
    ],
)
def test_a_comment_covers_its_statement(text, covered):
    (suppression,) = read_suppressions("a.py", text, is_cpp=False)
    assert (suppression.first, suppression.last, suppression.reason) == (*covered, "r")


@pytest.mark.parametrize("text", ["x = '# tilescope: ignore[TS101]'\n", '"""\n# tilescope: ignore\n"""\n'])
def test_a_string_is_no_comment(text):
    assert read_suppressions("a.py", text, is_cpp=False) == []


def test_comments_in_cpp_cover_their_line_or_the_next():
    text = (
        "int a; // tilescope: ignore[TS201] one\n// tilescope: ignore[TS101, TS501] two\n\n// other\nint b;\n"
    )
    first, second = read_suppressions("a.cu", text, is_cpp=True)
    assert (first.first, first.codes) == (1, ("TS201",))
    assert (second.first, second.codes, second.reason) == (5, ("TS101", "TS501"), "two")
    with pytest.raises(SuppressionError, match=r"a\.cu:1: the suppression of TS101 has no reason"):
        read_suppressions("a.cu", "f(); // tilescope: ignore[TS101]\n", is_cpp=True)


CPP = """#include <cstdio>
__global__ void shift(int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];IGNORE
}
int main() {
    int *out;
    cudaMalloc(&out, 256);
    shift<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="without a C++ compiler")
def test_a_comment_in_cuda_cpp_suppresses(tmp_path):
    comment = "  // tilescope: ignore[TS101] on purpose"
    loud = check(tmp_path, CPP.replace("IGNORE", ""), name="shift.cu")
    assert loud.returncode == 1 and "[TS101 possible]" in loud.stdout, loud.stderr
    done = check(tmp_path, CPP.replace("IGNORE", comment), name="shift.cu")
    assert (done.returncode, done.stdout) == (0, "no findings\n"), done.stderr


def test_add_ignore_writes_comments_that_suppress_everything(tmp_path):
    added = check(tmp_path, RACE, "--add-ignore", "known, see issue 12")
    assert added.returncode == 0 and "comments were added on 1 line." in added.stderr
    text = (tmp_path / "race.py").read_text()
    assert LINE.rstrip() + "  # tilescope: ignore[TS101] known, see issue 12\n" in text
    done = run_tilescope("check", "race.py", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "no findings\n")


def test_add_ignore_extends_a_comment_and_leaves_the_code():
    text = "x = (1,  # a\n     2)\ny = 3  # tilescope: ignore[TS101] r\n"
    new = with_ignores(text, {1: ["TS201"], 3: ["TS501"]}, "why", is_cpp=False)
    assert new.splitlines()[1:] == [
        "     2)  # tilescope: ignore[TS201] why",
        "y = 3  # tilescope: ignore[TS101, TS501] r",
    ]
    assert ast.dump(ast.parse(new)) == ast.dump(ast.parse(text))


# --- a baseline


def test_a_baseline_accepts_findings_with_a_reason(tmp_path):
    added = check(tmp_path, RACE, "--baseline", "base.json", "--add-to-baseline", "older than the check")
    assert added.returncode == 0, added.stderr
    (entry,) = json.loads((tmp_path / "base.json").read_text())["entries"]
    assert (entry["rule"], entry["file"], entry["reason"]) == ("TS101", "race.py", "older than the check")
    moved = "# a line more\n" + RACE
    done = check(tmp_path, moved, "--baseline", "base.json", "--output-format", "sarif=s.json")
    assert (done.returncode, done.stdout) == (0, "no findings\n")
    assert "1 finding suppressed: 1 by the baseline." in done.stderr
    (result,) = json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"]
    assert result["baselineState"] == "unchanged"
    assert result["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "older than the check"}
    ]


def test_a_finding_that_the_baseline_lacks_is_new(tmp_path):
    (tmp_path / "base.json").write_text('{"version": 1, "entries": []}')
    done = check(tmp_path, RACE, "--baseline", "base.json", "--output-format", "sarif")
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert done.returncode == 1 and result["baselineState"] == "new" and result["suppressions"] == []


ENTRY = (
    '{"fingerprint": "a-1", "rule": "TS101", "file": "race.py", "kernel": "shift", "text": "", "reason": ""}'
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"version": 2, "entries": []}', "base.json:1: the baseline has version 2, and not 1."),
        (
            '{\n "version": 1,\n "entries": [\n' + ENTRY + "]}",
            "base.json:4: entry 1 of the baseline (TS101) has no reason.",
        ),
        (
            '{"version": 1,\n"entries": [' + ENTRY.replace("TS101", "TS111") + "]}",
            "base.json:2: there is no rule 'TS111'",
        ),
        ("{", "base.json:1: the baseline is not JSON"),
        ("[]", "base.json:1: the baseline has no list of entries."),
    ],
)
def test_a_faulty_baseline_ends_with_one_sentence(text, sentence, tmp_path):
    (tmp_path / "base.json").write_text(text)
    done = check(tmp_path, "print('it ran')\n" + RACE, "--baseline", "base.json")
    assert done.returncode == 2 and sentence in done.stderr and done.stderr.count("\n") == 1
    assert "it ran" not in done.stderr and done.stdout == ""


# --- rules


def test_select_and_ignore_take_beginnings_of_codes(tmp_path):
    left_out = check(tmp_path, RACE, "--ignore", "TS1")
    assert (left_out.returncode, left_out.stdout) == (0, "no findings\n")
    assert "tilescope: 1 finding not selected: 1 of TS101.\n" in left_out.stderr
    assert check(tmp_path, RACE, "--select", "TS2,TS3").stdout == "no findings\n"
    longer = check(tmp_path, RACE, "--ignore", "TS1", "--select", "TS101")
    assert longer.returncode == 1


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_code_ends_with_one_sentence(option, tmp_path):
    done = check(tmp_path, "print('it ran')\n" + RACE, option, "TS11")
    assert done.returncode == 2 and "there is no rule 'TS11'" in done.stderr and "it ran" not in done.stderr


def test_exit_zero_reports_and_ends_with_0(tmp_path):
    done = check(tmp_path, RACE, "--exit-zero")
    assert done.returncode == 0 and "error: race: " in done.stdout
    failed = check(tmp_path, "raise ValueError(1)\n", "--exit-zero")
    assert failed.returncode == 2
    both = check(tmp_path, RACE + "raise ValueError(1)\n", "--exit-zero")
    assert both.returncode == 2 and "error: race: " in both.stdout


def test_entries_that_match_nothing_are_counted(tmp_path):
    check(tmp_path, RACE, "--baseline", "base.json", "--add-to-baseline", "older than the check")
    done = check(
        tmp_path, RACE.replace("    out[t]", "    cuda.syncthreads()\n    out[t]"), "--baseline", "base.json"
    )
    assert done.returncode == 0 and "base.json has 1 entry without a finding, first " in done.stderr
