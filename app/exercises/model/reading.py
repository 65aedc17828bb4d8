"""Read exercises from their two files, and list their mistakes. Nothing in them is run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ....tracer.model.cpp_text import parameters
from ....tracer.model.finding import FINDING_KINDS
from ...lectures.model.blocks import cut_long_paragraphs, heading_of, line_of, top_blocks
from ...lectures.model.captions import LONGEST, NO_PICTURES, TOO_LONG, Caption, read_caption
from ...model.named_file import UnreadableFileError, read_small_text
from ...model.visible_text import escape_controls
from .cpp_words import in_cuda_cpp
from .document import FILE_NAME, Exercise, Picture
from .goals import Goal, GoalError, parse_goal
from .mistakes import ExerciseError, Mistake
from .program import read_program
from .variants import (
    LARGEST_SEED,
    VARIANT,
    Variant,
    VariantError,
    choices_in,
    in_variant,
    parse_choices,
    variant_of,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LARGEST = 200_000  # bytes of a file
LONGEST_TITLE = 300  # characters
MOST_HINTS, MOST_GOALS = 20, 20
FENCE = "exercise"  # marks the block with kernel and goals
PICTURES = (".svg", ".png")
WORDS = ("A caption", "A task or hint")  # how messages about captions name the text here
OTHERWISE = {
    NO_PICTURES: "A picture needs a separate paragraph, below the title.",
    TOO_LONG: f"A task or hint has at most {LONGEST:,} characters; shorten it.",
}


def read_exercise(path: Path, seed: int = 0) -> Exercise:
    """Read an exercise from a Markdown file and the Python file next to it, and list its mistakes.

    seed: of the variant; 0 is the exercise as written. Raises ExerciseError unless the Markdown file is readable text
    with a valid name, and for seeds that are negative or too large.
    """
    match = FILE_NAME.fullmatch(path.name)
    if match is None:
        raise ExerciseError(
            f"{escape_controls(path)} is not named like an exercise: a number and a name, such as 01-map.md."
        )
    if not 0 <= seed <= LARGEST_SEED:
        raise ExerciseError(f"A seed is a whole number from 0 to {LARGEST_SEED:,}, not {seed:,}.")
    text = _text_of(path)
    variant = variant_of(choices_in(text), match[2], seed)
    reader = _Reader(in_variant(text, variant), path)
    program, program_mistakes = read_program(path.with_suffix(".py"), reader.kernel, variant)
    stub, stub_mistakes = _cuda_cpp_stub(path.with_suffix(".cu"), reader.kernel, variant)
    if stub and reader.order:
        stub_mistakes.append(
            Mistake(path.with_suffix(".cu"), 1, "Threads in CUDA C++ take no order; remove the file.")
        )
    words = None
    if stub and not stub_mistakes:
        cpp_text = in_cuda_cpp(in_variant(text, variant), parameters(stub, reader.kernel) or ())
        cpp_reader = _Reader(cpp_text, path)
        words = cpp_reader.task, tuple(cpp_reader.hints)
    mistakes = tuple(sorted({*reader.mistakes, *program_mistakes, *stub_mistakes}))
    return Exercise(
        escape_controls(match[2]), int(match[1]), reader.title, reader.task, reader.picture, tuple(reader.goals),
        tuple(reader.hints), program, reader.kernel, mistakes, path, tuple(reader.hides), reader.order, stub,
        variant=variant, other_words=words,
    )  # fmt: skip


def _cuda_cpp_stub(path: Path, kernel: str, variant: Variant) -> tuple[str, list[Mistake]]:
    """Read the stub in CUDA C++, "" if there is none, and list its mistakes."""
    if not path.is_file():
        return "", []
    try:
        text = in_variant(read_small_text(path, LARGEST, "exercise").replace("\r\n", "\n"), variant)
    except UnreadableFileError as error:
        return "", [Mistake(path, 1, f"The stub in CUDA C++ {error}.")]
    if kernel and parameters(text, kernel) is None:
        return text, [Mistake(path, 1, f"The stub has no kernel {kernel}, which the exercise names.")]
    return text, []


def _text_of(path: Path) -> str:
    try:
        text = read_small_text(path, LARGEST, "exercise")
    except UnreadableFileError as error:
        raise ExerciseError(f"{escape_controls(path)} {error}.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # the window starts without it

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    parser.core.ruler.before("inline", "cut", cut_long_paragraphs)
    return parser


class _Reader:
    """Walks over the blocks of the Markdown file: the task, then the hints."""

    def __init__(self, text: str, path: Path) -> None:
        self.path, self.mistakes = path, list[Mistake]()
        self.title, self.kernel, self.task = escape_controls(path.stem), "", Caption()
        self.order = ""
        self.picture: Picture | None = None
        self.goals: list[Goal] = []
        self.hints: list[Caption] = []
        self.hides: list[str] = []
        self._has_fence, self._names = False, set[str]()
        try:
            blocks = top_blocks(_parser().parse(text))
        except (
            RecursionError,
            IndexError,
            ValueError,
        ) as error:  # raised by the parser for generated input
            raise ExerciseError(
                f"{escape_controls(path)} can't be read as Markdown ({type(error).__name__})."
            ) from None
        self._read(blocks)

    def _read(self, blocks: Sequence[Sequence[Token]]) -> None:
        heads = [i for i, block in enumerate(blocks) if block[0].type == "heading_open"]
        if heads[:1] != [0] or blocks[0][0].tag != "h1":
            self._report(1, "An exercise begins with its title: # Title.")
        else:
            self._take_title(blocks[0])
            heads = heads[1:]
        begin = 1 if blocks and blocks[0][0].tag == "h1" else 0
        end = heads[0] if heads else len(blocks)
        self.task = self._caption([b for b in blocks[begin:end] if not self._take_fence_or_picture(b)])
        if not self.task:
            self._report(1, "There is no task; describe it in a few sentences below the title.")
        for start, end in pairwise([*heads, len(blocks)]):
            self._take_hint(blocks[start], blocks[start + 1 : end])
        if not self._has_fence:
            self._report(1, f"There is no block marked ```{FENCE}, which names the kernel and its goals.")

    def _take_title(self, block: Sequence[Token]) -> None:
        text = heading_of(block)
        if not text or len(text) > LONGEST_TITLE:
            self._report(line_of(block), f"A title has 1 to {LONGEST_TITLE} characters, not {len(text):,}.")
        self.title = text[:LONGEST_TITLE] or self.title

    def _take_fence_or_picture(self, block: Sequence[Token]) -> bool:
        """Read the block of kernel and goals, or a picture; return whether the block was one of these."""
        if block[0].type == "fence" and block[0].info.split()[:1] == [FENCE]:
            self._take_fence(block[0])
            return True
        image = _only_image(block)
        if image is not None:
            self._take_picture(image, line_of(block))
        return image is not None

    def _take_fence(self, token: Token) -> None:
        first = line_of([token])
        if self._has_fence:
            self._report(first, "An exercise has one block of kernel and goals; join this one to it.")
            return
        self._has_fence, before = True, len(self.mistakes)
        for number, text in enumerate(token.content.splitlines(), first + 1):
            if text.strip():
                self._take_line(number, *(part.strip() for part in text.partition(":")[::2]))
        if not self.kernel and len(self.mistakes) == before:
            self._report(first, "The kernel is not named; write a line such as kernel: add_ten.")

    def _take_line(self, number: int, key: str, value: str) -> None:
        if key == "kernel":
            if self.kernel or not value.isidentifier():
                self._report(number, "Name one kernel by its name in Python: kernel: add_ten.")
            self.kernel = self.kernel or (value if value.isidentifier() else "")
        elif key == "order":
            if self.order or not value.isidentifier():
                self._report(number, "Name one text of the Python file: order: ORDER.")
            self.order = self.order or (value if value.isidentifier() else "")
        elif key == "goal" and len(self.goals) < MOST_GOALS:
            try:
                self.goals.append(parse_goal(value, number))
            except GoalError as error:
                self._report(number, str(error))
        elif key == VARIANT:
            try:
                name, _ = parse_choices(value)
            except VariantError as error:
                self._report(number, str(error))
            else:
                if name in self._names:
                    self._report(number, f"{name} is a variant already; give all its values in one line.")
                self._names.add(name)
        elif key == "hides":
            kinds = [kind.strip() for kind in value.split(",")]
            unknown = next((kind for kind in kinds if kind not in FINDING_KINDS), None)
            if unknown is not None:
                self._report(
                    number, f"{unknown!r} is not a kind of finding; the kinds are {', '.join(FINDING_KINDS)}."
                )
            else:
                self.hides += kinds
        elif key == "goal":
            self._report(number, f"An exercise has at most {MOST_GOALS} goals.")
        else:
            self._report(
                number,
                f"{key!r} is not a known key; the keys are kernel:, goal:, hides:, order: and variant:.",
            )

    def _take_picture(self, image: Token, line: int) -> None:
        name = str(image.attrGet("src") or "")
        path = self.folder / name
        if self.picture is not None:
            self._report(line, "An exercise has one picture.")
        elif PurePosixPath(name).name != name or "\\" in name or ":" in name or "%" in name:
            self._report(
                line, f"The picture {name} must be in the folder of the file, and be named without a folder."
            )
        elif path.suffix.lower() not in PICTURES:
            self._report(line, f"The name of the picture {name} must end in {' or '.join(PICTURES)}.")
        elif not path.is_file():
            self._report(line, f"The picture {name} is not in the folder of the file.")
        else:
            self.picture = Picture(path, escape_controls(image.content))

    @property
    def folder(self) -> Path:
        """Where the files lie."""
        return self.path.parent

    def _take_hint(self, head: Sequence[Token], body: Sequence[Sequence[Token]]) -> None:
        line = line_of(head)
        if head[0].tag != "h2" or heading_of(head) != "Hint":
            self._report(line, "Only hints may follow the task, each under ## Hint.")
            return
        hint = self._caption(body)
        if not hint:
            self._report(line, "A hint needs a text under its heading.")
        elif len(self.hints) == MOST_HINTS:
            self._report(line, f"An exercise has at most {MOST_HINTS} hints.")
        else:
            self.hints.append(hint)

    def _caption(self, blocks: Sequence[Sequence[Token]]) -> Caption:
        caption, problems = read_caption([token for block in blocks for token in block])
        for problem in problems:
            self._report(problem.line, OTHERWISE.get(problem.sentence, problem.sentence.replace(*WORDS)))
        return caption

    def _report(self, line: int, sentence: str) -> None:
        self.mistakes.append(Mistake(self.path, line, sentence))


def _only_image(block: Sequence[Token]) -> Token | None:
    """Return the picture of a paragraph that contains nothing else."""
    children = block[1].children if len(block) == 3 and block[0].type == "paragraph_open" else None
    return children[0] if children and [c.type for c in children] == ["image"] else None
