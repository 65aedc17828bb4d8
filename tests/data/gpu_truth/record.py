"""Record the counters and bits of the cases of this folder on a GPU: python record.py FOLDER [contended].

Needs Nsight Compute. Writes FOLDER/truth.json: a list of cases with grid, block, counters as Nsight Compute has them
(zeros left out) and, of expressions, the first 64 elements of inputs and results as hexadecimal bytes. Contended cases
are launched twice, and only counters that were the same both times are written.
"""

import csv
import json
import pathlib
import subprocess
import sys
import traceback

import numpy as np

KINDS = {"load": "ld", "store": "st", "reduction": "red", "atomic": "atom"}
METRICS = {
    **{
        f"global_{k}_requests": f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum"
        for k, op in KINDS.items()
    },
    **{f"global_{k}_sectors": f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum" for k, op in KINDS.items()},
    **{
        f"shared_{k}_instructions": f"smsp__inst_executed_op_shared_{KINDS[k]}.sum" for k in ("load", "store")
    },
    "shared_atomic_instructions": "smsp__inst_executed_op_shared_atom.sum",
    **{
        f"shared_{k}_wavefronts": f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{KINDS[k]}.sum"
        for k in ("load", "store", "atomic")
    },
    "local_load_instructions": "smsp__inst_executed_op_local_ld.sum",
    "local_store_instructions": "smsp__inst_executed_op_local_st.sum",
}
KEPT = 64
REPEATED = 2  # times that each of the contended cases is launched


def launch_all(folder, which=""):
    """Launch every case once, in order, and write its results; "contended" selects only those cases."""
    import cases
    from numba import cuda

    outcomes = []
    if which == "contended":
        launched = [_launched(cuda, case) for case in list(cases.contended()) * REPEATED]
        pathlib.Path(folder, "launched.json").write_text(json.dumps(launched))
        return
    rng = np.random.default_rng(4)
    for text, kind, out_kind, values in cases.expressions():
        given = [cases.inputs(kind, values, rng) for _ in range(3)]
        case = {"case": f"{text} {kind}->{out_kind}", "grid": 2, "block": 128}
        try:
            out = cuda.to_device(np.zeros(cases.ELEMENTS, out_kind))
            kernel = cases.compiled_text(cases.expression_text(text))
            case["kernel"] = kernel.py_func.__name__
            kernel[2, 128](*map(cuda.to_device, given), out)
            cuda.synchronize()
            case |= {"dtype": kind, "out_dtype": out_kind, "out": out.copy_to_host()[:KEPT].tobytes().hex()}
            case |= {n: v[:KEPT].tobytes().hex() for n, v in zip("xyw", given, strict=True)}
        except Exception as error:  # noqa: BLE001  # what Numba refuses is a case too
            case["error"] = f"{type(error).__name__}: {str(error)[-300:]}"
        outcomes.append(case)
    outcomes += [_launched(cuda, case) for case in cases.cases()]
    pathlib.Path(folder, "launched.json").write_text(json.dumps(outcomes))


def _launched(cuda, described):
    """Launch a case and return it with what it left."""
    name, kernel, grid, block, arguments, shared = described
    case = {"case": name, "kernel": kernel.py_func.__name__, "grid": grid, "block": block}
    try:
        moved = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
        kernel[grid, block, 0, shared](*moved)
        cuda.synchronize()
        left = [m.copy_to_host() for m in moved if hasattr(m, "copy_to_host")]
        case["results"] = [a.tobytes()[:256].hex() for a in left]
    except Exception as error:  # noqa: BLE001  # what Numba refuses is a case too
        case["error"] = f"{type(error).__name__}: {traceback.format_exc()[-300:]}"
    return case


def main(folder, *which):
    """Launch the cases under Nsight Compute and write its counters next to their results."""
    here = pathlib.Path(__file__)
    command = [
        "ncu",
        "--clock-control",
        "none",
        "--csv",
        "--page",
        "raw",
        "--metrics",
        ",".join(METRICS.values()),
    ]
    log = pathlib.Path(folder, "ncu.csv")
    with log.open("w") as target:
        subprocess.run(
            [*command, sys.executable, str(here), "--launch", folder, *which], stdout=target, check=False
        )
    rows = [line for line in log.read_text().splitlines() if line.startswith('"')]
    table = [row for row in csv.DictReader(rows) if row["ID"]]
    outcomes = json.loads(pathlib.Path(folder, "launched.json").read_text())
    launched = [case for case in outcomes if "error" not in case]
    print(len(outcomes), "cases", len(launched), "launched", len(table), "counted")
    for case, row in zip(launched, table, strict=False):
        read = {name: row[metric].replace(",", "") for name, metric in METRICS.items() if row.get(metric)}
        case["counters"] = {n: int(float(v)) for n, v in read.items() if v not in ("", "n/a") and float(v)}
    pathlib.Path(folder, "truth.json").write_text(json.dumps(agreed(outcomes) if which else outcomes))
    for case in outcomes:
        if "error" in case:
            print(case["case"], case["error"][:200])


def agreed(launched):
    """Return each case once, with the counters that were the same each time."""
    cases = {}
    for case in launched:
        first = cases.setdefault(case["case"], case)
        counters = case.get("counters", {})
        first["counters"] = {n: v for n, v in first.get("counters", {}).items() if counters.get(n) == v}
    return list(cases.values())


if __name__ == "__main__":
    if sys.argv[1] == "--launch":
        launch_all(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
