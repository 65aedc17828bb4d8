"""The path of a value in a session: sentences, and the accesses to mark, for the window, lectures and commands."""

from __future__ import annotations

import numpy as np

from ...tracer.causes.named_element import NoElementError, find_element
from ...tracer.causes.reference import expected_results, first_difference, wrong_elements
from ...tracer.causes.sentences import PathWriter, Sentence
from ...tracer.causes.value_path import Causes, Element, ValuePath, reach_of
from .bookmark import TracedValue
from .explanation import Explanation, traced_element
from .session import Selection, Session, buffer_text

OTHER_PANE = "the other pane"
AT_ONCE = 2_000_000  # accesses of a launch whose paths are computed while the window waits


def causes_of(session: Session) -> Causes:
    """Return the causes of a session's values; memoised."""
    own = vars(session)
    if "causes" not in own:
        own["causes"] = Causes(session.trace)
    causes: Causes = own["causes"]
    return causes


def element_named(
    session: Session, text: str, block: int | None = None, thread: int | None = None
) -> Element:
    """Return the element that a text names; raises NoElementError."""
    return find_element(session.trace, text, block, thread, buffer_text)


def row_before(session: Session, element: Element, moment: int | None) -> int | None:
    """Return the row before which an element has the value that a moment shows; None at the end."""
    if moment is None or moment >= session.end:
        return None
    causes = causes_of(session)
    rows = causes.order.writes(element.buffer, element.index, (element.block, element.thread))
    moments = session.requests.moment[session.requests.request[rows]]
    later = rows[moments > moment]
    return int(later[0]) if len(later) else None


def explain(
    session: Session,
    element: Element,
    moment: int | None = None,
    reference: Session | None = None,
    reference_name: str = "",
) -> Explanation:
    """Explain an element's value at a moment, by default at the end, against a reference if there is one.

    reference_name: by default what the reference is in the window.
    """
    causes, writer = causes_of(session), _writer(session)
    if reference is not None:
        reference_name = reference_name or _name_of_reference(session, reference)
    later = row_before(session, element, moment)
    path, right = causes.path(element, later), None
    sentences = writer.path(path, later)
    if verdict := _verdict(session, element, path):
        right, sentence = verdict
        sentences = [sentence, *sentences]
    difference = first_difference(causes, path, causes_of(reference)) if reference else None
    if difference is not None and reference is not None:
        # Panes with the same kernel differ in the order of threads or in sizes: either may be right.
        is_wrong = not right if right is not None else reference_name != OTHER_PANE
        sentences = [*writer.difference(difference, reference_name, is_wrong=is_wrong), *sentences]
    elif reference is not None and path.last >= 0:
        sentences.insert(0, Sentence(f"Every write on the path equals that of {reference_name}."))
    return Explanation(writer.element(element), element, tuple(sentences), path.rows(), path)


def explain_reach(session: Session, element: Element, moment: int | None = None) -> Explanation:
    """Explain what an element's value at a moment reaches; its content before the launch by default."""
    causes, writer = causes_of(session), _writer(session)
    since = -1 if moment is None else causes.last_write(element, row_before(session, element, moment))
    reach = reach_of(causes, element, since)
    rows = sorted({*reach.reads, *reach.writes})
    sentences = tuple(writer.reach(reach))
    return Explanation(writer.element(element), element, sentences, np.array(rows, np.int64), reach=reach)


def explanation_of(
    session: Session, traced: TracedValue, selection: Selection, reference: Session | None = None
) -> Explanation | None:
    """Return the explanation of a traced value; None if it takes long and is not computed yet."""
    key = _key(traced, selection, reference)
    cached = vars(session).get("explained")
    if cached is not None and cached[0] == key:
        explanation: Explanation = cached[1]
        return explanation
    return explain_now(session, traced, selection, reference) if len(session.trace) <= AT_ONCE else None


def explain_now(
    session: Session, traced: TracedValue, selection: Selection, reference: Session | None = None
) -> Explanation:
    """Compute the explanation of a traced value, and keep it until another one is computed."""
    block = selection.block if traced.block is None else traced.block
    thread = selection.thread if traced.thread is None else traced.thread
    try:
        element = element_named(session, traced.element, block, thread)
    except NoElementError as error:
        sentence = str(error)
        sentences = (Sentence(sentence[:1].upper() + sentence[1:]),)
        explanation = Explanation(traced.element, None, sentences, np.empty(0, np.int64))
    else:
        if traced.forward:
            explanation = explain_reach(session, element, traced.moment)
        else:
            explanation = explain(session, element, traced.moment, reference)
    vars(session)["explained"] = _key(traced, selection, reference), explanation
    return explanation


def _key(traced: TracedValue, selection: Selection, reference: Session | None) -> tuple[object, ...]:
    """Return the key of an explanation within its session."""
    block = selection.block if traced.block is None else traced.block
    thread = selection.thread if traced.thread is None else traced.thread
    return traced, block, thread, id(reference)


def element_of_thread(session: Session, selection: Selection, moment: float) -> TracedValue | None:
    """Return the element that a thread accessed last up to a moment; None if it made no access yet."""
    causes = causes_of(session)
    rows = causes.order.rows_of_thread(selection.block, selection.thread)
    moments = session.requests.moment[session.requests.request[rows]]
    earlier = rows[moments <= moment]
    if not len(earlier):
        return None
    row = int(earlier[np.argmax(moments[moments <= moment] * len(rows) + np.arange(len(earlier)))])
    element = causes.element_of(row)
    number = int(session.memory.element_numbers(element.buffer, np.array([element.index]))[0])
    return traced_element(session, element.buffer, number, selection) if number >= 0 else None


def first_wrong_element(session: Session) -> Element | None:
    """Return the first element whose final value differs from NumPy's; None if all are right or unknown."""
    causes = causes_of(session)
    for result in expected_results(session.trace):
        wrong = wrong_elements(causes, result)
        if len(wrong):
            return Element(result.buffer, int(wrong[0]))
    return None


def _name_of_reference(session: Session, reference: Session) -> str:
    """Name a session that a path is compared with, as in "the other pane has 22"."""
    if session.launch.source == reference.launch.source:
        return OTHER_PANE
    is_edit = reference.is_unmodified and not session.is_unmodified
    return "the version before the edit" if is_edit else "the other version"


def _verdict(session: Session, element: Element, path: ValuePath) -> tuple[bool, Sentence] | None:
    """Compare the final value of an element of the result with NumPy's: whether it is right, in a sentence too."""
    trace = session.trace
    for result in expected_results(trace):
        if result.buffer != element.buffer or path.last < 0 or trace.value is None:
            continue
        if path.last != causes_of(session).last_write(element):
            continue
        expected = result.values[trace.buffers[element.buffer].elements() == element.index]
        if not len(expected):
            continue
        error = abs(complex(trace.value[path.last]) - complex(expected[0]))
        name, number = _writer(session).element(element), f"{expected[0]:.6g}"
        held = f"{complex(trace.value[path.last]).real:.6g}"
        if error <= result.tolerance:
            return True, Sentence(f"{name} = {held} equals NumPy's result.")
        return False, Sentence(f"{name} = {held} is wrong: NumPy has {number}.")
    return None


def _writer(session: Session) -> PathWriter:
    return PathWriter(causes_of(session), session.requests, buffer_text)
