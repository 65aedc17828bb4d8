"""What a view asks of the window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ...model.nothing import nothing

if TYPE_CHECKING:
    from ....tracer.model.finding import Finding
    from ....tracer.model.order import Order
    from ...model.bookmark import TracedValue
    from ...model.session import Selection, Session


class ViewRequests(NamedTuple):
    """What a view calls when the user asks for something; a view never changes the time or the selection itself."""

    seek: Callable[[float], object] = nothing  # to a moment
    select: Callable[[Selection], object] = nothing
    show_line: Callable[[str, int], object] = nothing  # of a source file
    trace_value: Callable[[TracedValue | None], object] = nothing  # show the path of a value; None for none
    list_code: Callable[[Session], object] = nothing  # the compiled code of a session's kernel
    fix: Callable[[Finding], object] = nothing  # apply the remedy of a finding to the kernel's text
    choose_order: Callable[[Order], object] = nothing  # of the threads
    find_order: Callable[[], object] = nothing  # that changes the result
    count_values: Callable[[str], object] = nothing  # the final values of an element, over the orders
    leave: Callable[[], object] = nothing  # a field, for the pictures
