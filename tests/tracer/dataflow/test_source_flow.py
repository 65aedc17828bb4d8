"""The loads that reach each store, by the source only: on every path (all), on some paths (some), or on none."""

from __future__ import annotations

import textwrap

import pytest

from tilescope.tracer.dataflow.source_flow import Share, flow_of

ALL, SOME, NONE = Share.ALL, Share.SOME, Share.NONE
# The body of a kernel, and of each load what the store to `out` has of it: (older ones, the newest).
BODIES = {
    "in one statement": ("out[i] = a[i] * 2 + b[j]", {"a[i]": (ALL, ALL), "b[j]": (ALL, ALL)}),
    "through variables": ("v = a[i]\nw = math.sqrt(v)\nout[i] = w", {"a[i]": (ALL, ALL)}),
    "an index": ("out[a[i]] = b[a[j]]", {"a[i]": (NONE, NONE), "a[j]": (NONE, NONE), "b[a[j]]": (ALL, ALL)}),
    "a decision": ("if a[i] > 3:\n    out[i] = 1", {"a[i]": (NONE, NONE)}),
    "overwritten": ("v = a[i]\nv = b[j]\nout[i] = v", {"a[i]": (NONE, NONE), "b[j]": (ALL, ALL)}),
    "on one way": ("v = 0\nif c:\n    v = a[i]\nout[i] = v", {"a[i]": (ALL, ALL)}),
    "perhaps overwritten": (
        "v = a[i]\nif c:\n    v = b[j]\nout[i] = v",
        {"a[i]": (SOME, SOME), "b[j]": (ALL, ALL)},
    ),
    "a sum": (
        "s = 0.0\nfor k in range(n):\n    s += a[k] * b[k]\nout[i] = s",
        {"a[k]": (ALL, ALL), "b[k]": (ALL, ALL)},
    ),
    "a sum the long way": (
        "s = 0.0\nk = 0\nwhile k < n:\n    s = s + a[k]\n    k += 1\nout[i] = s",
        {"a[k]": (ALL, ALL)},
    ),
    "a sum for each store": (
        "for k in range(n):\n    s = 0\n    for m in range(n):\n        s += a[m]\n    out[k] = s",
        {"a[m]": (ALL, ALL)},
    ),
    "the last of a loop": ("v = 0\nfor k in range(n):\n    v = a[k]\nout[i] = v", {"a[k]": (NONE, ALL)}),
    "the largest": ("m = 0\nfor k in range(n):\n    m = max(m, a[k])\nout[i] = m", {"a[k]": (SOME, SOME)}),
    "a running sum": ("s = 0\nfor k in range(n):\n    s += a[k]\n    out[k] = s", {"a[k]": (ALL, ALL)}),
    "a loop over blocks": ("while i < n:\n    v = a[i]\n    out[i] = v\n    i += 32", {"a[i]": (ALL, ALL)}),
    "either": ("out[i] = a[i] if c else b[i]", {"a[i]": (ALL, ALL), "b[i]": (ALL, ALL)}),
    "two at once": ("x, y = a[i], b[j]\nout[i] = y", {"a[i]": (NONE, NONE), "b[j]": (ALL, ALL)}),
    "in place": ("out[i] += a[i]", {"out[i]": (ALL, ALL), "a[i]": (ALL, ALL)}),
    "an atomic": ("cuda.atomic.add(out, b[j], a[i])", {"a[i]": (ALL, ALL), "b[j]": (NONE, NONE)}),
    "another lane's": ("v = cuda.shfl_down_sync(-1, a[i], 1)\nout[i] = v", {"a[i]": (NONE, NONE)}),
    "a function's argument": ("out[i] = twice(a[i])", {"a[i]": (ALL, ALL)}),
    "a function that drops it": ("out[i] = one(a[i])", {"a[i]": (NONE, NONE)}),
    "a function that stores": ("put(out, i, a[i])", {"a[i]": (ALL, ALL)}),
    "a function that loads": ("out[i] = get(a, i) + 1", {"x[k]": (ALL, ALL)}),
    "a function of elsewhere": ("out[i] = other(a[i])", {"a[i]": (SOME, SOME)}),
    "a function handed on": ("each(body, n)", {"a[k]": (ALL, ALL)}),
    "a list": ("v = [a[k] for k in range(3)]\nout[i] = v[1]", {"a[k]": (NONE, SOME)}),
    "a break": (
        "v = 0\nfor k in range(n):\n    if c:\n        break\n    v = a[k]\nout[i] = v",
        {"a[k]": (NONE, ALL)},
    ),
}
FUNCTIONS = """
def twice(x):
    return x * 2
def one(x):
    return 1
def put(x, k, v):
    x[k] = v
def get(x, k):
    v = x[k]
    return v
"""


def places(text, wanted):
    """List the (line, column) of each occurrence of a text that is not only a target."""
    lines = text.splitlines()
    return {(n + 1, line.find(wanted)) for n, line in enumerate(lines) if wanted in line}


@pytest.mark.parametrize("name", BODIES)
def test_values_that_reach_a_store(name):
    body, expected = BODIES[name]
    inner = "    def body(k):\n        out[k] = a[k]\n" if name == "a function handed on" else ""
    text = (
        f"{FUNCTIONS}\ndef kernel(a, b, out, n, c):\n    i = j = 0\n{inner}{textwrap.indent(body, '    ')}\n"
    )
    flow = flow_of(text, "kernel")
    assert flow is not None
    target = {"an atomic": "cuda.atomic", "a function that stores": "x[k] = v"}.get(name, "out[")
    store = next(place for place in flow if place in places(text, target))
    for load, (older, newest) in expected.items():
        results = [carried for place, carried in flow[store].items() if place in places(text, load)]
        assert results == [(older, newest)], load


@pytest.mark.parametrize(
    "text",
    ["", "def kernel(:", "x = 1", "def kernel(a):\n    f = lambda: a\n    a[0] = f()\n", "\0",
     "def kernel(a):\n    try:\n        a[0] = a[1]\n    except ValueError:\n        pass\n",
     "def kernel(a):\n    a[0] = " + "(" * 5000 + "1" + ")" * 5000,
     "def kernel(a):\n    a[0] = a[1]" + "+ a[1]" * 90_000,
     "def kernel(a):\n    kernel2(a)\ndef kernel2(a):\n    a[0] = 1\n    kernel2(a)\n"],
)  # fmt: skip
def test_an_unsupported_source_gives_no_flow(text):
    assert not flow_of(text, "kernel")


def test_columns_are_counted_in_letters():
    flow = flow_of("def kernel(größe, out):\n    x = 'ä'; out[0] = größe[1]\n", "kernel")
    assert flow == {(2, 13): {(2, 22): (ALL, ALL)}}
