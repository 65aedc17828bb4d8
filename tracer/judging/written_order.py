"""The order of threads that a student writes as a text into the file, in exercises about orders."""

from __future__ import annotations

import ast

from msgspec import Struct

from ..model.launch import Dim3
from ..model.order import OrderTextError, check_order, kernel_version, parse_order
from ..model.syntax_tree import syntax_tree
from .result import JudgingTask
from .student_file import StudentFileError


class WrittenOrder(Struct, frozen=True):
    """An order in a student's file."""

    text: str
    line: int  # of the file
    switches: int  # see `Order.switches`

    def check(self, task: JudgingTask, grid: Dim3, block: Dim3) -> str:
        """Explain why the order can't be of a launch; "" if it can."""
        try:
            check_order(parse_order(self.text), grid, block, task.student_text, task.kernel)
        except OrderTextError as error:
            return str(error)
        return ""


def written_order(task: JudgingTask) -> WrittenOrder:
    """Read the order in a student's file; raises StudentFileError, also if the kernel is not that of the exercise."""
    tree = syntax_tree(task.student_text)
    if kernel_version(task.student_text, task.kernel) != kernel_version(task.text, task.kernel):
        lines = [n.lineno for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == task.kernel]
        raise StudentFileError(
            f"The kernel {task.kernel} is changed; restore it, because only {task.order} may change.",
            lines[0] if lines else 0,
        )
    assigned = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign)
        and [target.id for target in node.targets if isinstance(target, ast.Name)] == [task.order]
    ]
    if not assigned:
        raise StudentFileError(f'There is no order; write for example {task.order} = "t1x2+t0".', 0)
    value, line = assigned[-1].value, assigned[-1].lineno
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        raise StudentFileError(
            f'{task.order} is not a text; write for example {task.order} = "t1x2+t0".', line
        )
    try:
        order = parse_order(value.value)
    except OrderTextError as error:
        raise StudentFileError(str(error), line) from None
    return WrittenOrder(value.value, line, order.switches)
