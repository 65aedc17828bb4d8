"""Kernels in CUDA C++ that replay one thread, as `replay_program` does for Numba.

The compiler translates without optimisation, and its debug information states the column of each access: a load has
that of its array or field, a store that of its operator, an atomic that of its function.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ...kernels.scenarios.suggestions import did_you_mean
from ..model.trace import WARP
from .carried import AccessPosition
from .cpp_tokens import CppFunction, CppText, Token, closing, read_text, split_at_commas, tokens_in
from .cpp_values import (
    NUMBER_WORDS,
    OPERATORS,
    CppExpression,
    Place,
    Pointer,
    address,
    atomic,
    cast_expression,
    combined,
    constant_expression,
    element,
    exchange,
    field_expression,
    increment,
    joined,
    loaded_expression,
    new_array,
    number_of,
    number_type_of,
    operation,
    pack,
    subscript,
    unknown_call,
)
from .replay_program import (
    BREAK,
    CONTINUE,
    DEEPEST,
    LONGEST,
    LONGEST_EXPRESSION,
    NEXT,
    POSITIONS,
    RESULT,
    RETURN,
    Expression,
    Names,
    Statement,
    fail,
    truth,
)
from .replay_state import Pair, ReplayError, ReplayState
from .replay_values import (
    FUNCTIONS,
    UNARY,
    UNKNOWN,
    NumberType,
    computed,
)

_QUALIFIERS = frozenset(
    {
        "const", "volatile", "static", "constexpr", "register", "inline", "restrict", "__restrict__", "__restrict",
        "extern", "__shared__", "__device__", "__constant__", "typename", "struct", "mutable",
    }
)  # fmt: skip
_VECTORS = frozenset(
    f"{kind}{count}"
    for kind in ("char", "uchar", "short", "ushort", "int", "uint", "float", "double")
    for count in "1234"
) | {"dim3"}
_PRECEDENCE = [
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
]
_ASSIGNING = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
_NAMED_CASTS = ("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast")
_SILENT = (
    "__syncthreads",
    "__syncwarp",
    "__threadfence",
    "__nanosleep",
    "printf",
    "assert",
    "__builtin_assume",
)
_RENAMED = {
    "__popc": "cuda.popc", "__popcll": "cuda.popc", "__brev": "cuda.brev", "__clz": "cuda.clz", "__ffs": "cuda.ffs",
    "fminf": "min", "fmaxf": "max", "fmin": "min", "fmax": "max", "fabs": "abs", "fabsf": "abs",
    "__fmaf_rn": "cuda.fma", "fmaf": "cuda.fma", "fma": "cuda.fma", "umin": "min", "umax": "max",
}  # fmt: skip
_CONSTANTS: dict[str, object] = {
    "true": True, "false": False, "warpSize": WARP, "INFINITY": math.inf, "NAN": math.nan, "nullptr": 0, "NULL": 0,
    "INT_MAX": 2**31 - 1, "INT_MIN": -(2**31), "UINT_MAX": 2**32 - 1, "FLT_MAX": 3.4028234663852886e38,
    "FLT_MIN": 1.1754943508222875e-38, "M_PI": math.pi,
}  # fmt: skip


class CppProgram:
    """A text in CUDA C++ whose functions threads can replay."""

    def __init__(self, source: str, kernel: str, constants: Mapping[str, bool | int | float | str]) -> None:
        self.kernel, self.constants = kernel, constants
        self.text: CppText = read_text(source, constants)
        self._compiled: dict[tuple[str, tuple[object, ...]], tuple[list[str], Statement, _Parser]] = {}

    @property
    def is_known(self) -> bool:
        """Whether the text defines the kernel, once."""
        return self.kernel in self.text.functions

    @property
    def parameters(self) -> list[str]:
        """The names of the kernel's parameters."""
        return self._parser(self.kernel, ())[0]

    @property
    def variables(self) -> list[str]:
        """The names of the kernel's parameters and local variables, in the order of the text."""
        return self._parser(self.kernel, ())[2].slots

    def function(self, name: str, template: tuple[object, ...] = ()) -> tuple[list[str], Statement]:
        """Return the parameters and the body of a function."""
        return self._parser(name, template)[:2]

    def expression(self, text: str) -> Expression:
        """Prepare an expression of the kernel's variables; raises ReplayError."""
        if len(text) > LONGEST_EXPRESSION:
            fail(f"an expression has at most {LONGEST_EXPRESSION} characters")
        own = self._parser(self.kernel, ())[2]
        tokens = tokens_in(text)
        for token in tokens:
            if token.text in ("[", "*") and (token.text == "[" or token is tokens[0]):
                fail("an expression has variables and no elements of arrays: their pictures show these")
            if token.text in (*_ASSIGNING, "++", "--", ";") or token.kind == "text":
                fail("an expression has variables, numbers, operators, min, max and abs")
            names = (*own.slots, *POSITIONS, *_CONSTANTS, *self.constants, *self.text.constants, *"xyz")
            if token.kind == "word" and token.text not in (*names, *NUMBER_WORDS, "min", "max", "abs"):
                fail(f"the kernel has no variable {token.text!r}{did_you_mean(token.text, own.slots)}")
        parser = _Parser(self, tokens, {})
        parser.scopes = [{slot: (slot, None) for slot in own.slots}]
        try:
            value = parser.expression()
        except IndexError:
            fail(f"{text.strip()[:40]!r} is not an expression, such as row * 2 + col")
        if parser.position != len(tokens):
            fail(f"{text.strip()[:40]!r} is not an expression, such as row * 2 + col")
        return value.value

    def _parser(self, name: str, template: tuple[object, ...]) -> tuple[list[str], Statement, _Parser]:
        key = name, template
        if key not in self._compiled:
            function = self.text.functions[name]
            bound = dict(zip(function.template, template, strict=False))
            parser = _Parser(self, function.body, bound)
            names = parser.declare_parameters(function)
            try:
                body = parser.block()
            except IndexError:
                body = _refused("the text ends within a function")
            self._compiled[key] = names, body, parser
        return self._compiled[key]


def _refused(reason: str) -> Statement:
    return lambda state, names: fail(reason)


@lru_cache(maxsize=8)
def cpp_program_of(
    source: str, kernel: str, constants: tuple[tuple[str, bool | int | float | str], ...]
) -> CppProgram | None:
    """Prepare a text for replays; None if it does not define the kernel once."""
    if len(source) > LONGEST:
        return None
    program = CppProgram(source, kernel, dict(constants))
    return program if program.is_known else None


class _Parser:
    """Turns the tokens of a function into functions of the state and the local names."""

    def __init__(self, program: CppProgram, tokens: Sequence[Token], template: Mapping[str, object]) -> None:
        self.program, self.tokens, self.template = program, tokens, template
        self.position = 0
        self.scopes: list[dict[str, tuple[str, NumberType | None]]] = [{}]
        self.slots: list[str] = []
        self.references: list[bool] = []  # of the parameters

    # Tokens

    def text(self, ahead: int = 0) -> str:
        index = self.position + ahead
        return self.tokens[index].text if index < len(self.tokens) else ""

    def take(self, expected: str = "") -> Token:
        token = self.tokens[self.position]
        if expected and token.text != expected:
            fail(f"line {token.line} is not read from {token.text!r} on")
        self.position += 1
        return token

    def skip(self, text: str) -> bool:
        if self.text() == text:
            self.position += 1
            return True
        return False

    def inner(self, tokens: Sequence[Token]) -> _Parser:
        """Return a parser of other tokens in the same scopes."""
        other = _Parser(self.program, tokens, self.template)
        other.scopes, other.slots = self.scopes, self.slots
        return other

    # Names

    def declare(self, name: str, kind: NumberType | None) -> str:
        slot = name
        while slot in self.slots:
            slot += "'"
        self.slots.append(slot)
        self.scopes[-1][name] = slot, kind
        return slot

    def declare_parameters(self, function: CppFunction) -> list[str]:
        names = []
        for part in split_at_commas(function.parameters):
            reader = self.inner(part)
            words = [token.text for token in part]
            kind = reader.type_name()
            is_pointer = "*" in words or "[" in words
            end = words.index("[") if "[" in words else words.index("=") if "=" in words else len(words)
            named = [
                token.text for token in part[:end] if token.kind == "word" and token.text not in _QUALIFIERS
            ]
            name = named[-1] if named else ""
            names.append(self.declare(name, None if is_pointer else kind))
            self.references.append("&" in words)
        return names

    def lookup(self, name: str) -> tuple[str, NumberType | None] | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    # Types

    def begins_type(self, ahead: int = 0) -> bool:
        word = self.text(ahead)
        if word in _QUALIFIERS or word in NUMBER_WORDS or word in _VECTORS:
            return self.lookup(word) is None
        return word in self.template and self.template[word] is None

    def type_name(self) -> NumberType | None:
        """Read a type without its stars; return the type of a number, None for others."""
        words: list[str] = []
        while self.position < len(self.tokens):
            word = self.text()
            if word in _QUALIFIERS or word in NUMBER_WORDS:
                words.append(self.take().text)
            elif not [w for w in words if w not in _QUALIFIERS] and self.tokens[self.position].kind == "word":
                words.append(self.take().text)
                while self.text() in ("::", "<"):
                    if self.take().text == "<":
                        depth = 1
                        while depth:
                            text = self.take().text
                            depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
                        words.append("<>")
                    else:
                        words.append(self.take().text)
            else:
                break
        return number_type_of([w for w in words if w not in _QUALIFIERS])

    def is_declaration(self) -> bool:
        if self.tokens[self.position].kind != "word":
            return False
        if self.begins_type():
            return not (self.text() in NUMBER_WORDS | _VECTORS and self.text(1) == "(")
        start = self.position
        try:
            if self.lookup(self.text()) or self.text() in ("return", "if", "for", "while", "do", "else"):
                return False
            self.type_name()
            while self.text() in ("*", "&", "const", "__restrict__"):
                self.position += 1
            is_named = self.position < len(self.tokens) and self.tokens[self.position].kind == "word"
            return is_named and self.text(1) in ("=", ";", "[", ",", "(", "{")
        except (IndexError, ReplayError):
            return False
        finally:
            self.position = start

    # Statements

    def block(self) -> Statement:
        """Read statements to the end of the tokens."""
        self.scopes.append({})
        statements = []
        while self.position < len(self.tokens):
            line = self.tokens[self.position].line
            try:
                statements.append(self.statement())
            except ReplayError as error:
                statements.append(_refused(str(error)))
                break
            except IndexError:
                statements.append(_refused(f"line {line} holds a statement that is not replayed"))
                break
        self.scopes.pop()

        def run(state: ReplayState, names: Names) -> int:
            for statement in statements:
                if signal := statement(state, names):
                    return signal
            return NEXT

        return run

    def statement(self) -> Statement:
        token = self.tokens[self.position]
        word = token.text
        if word == "{":
            end = closing(self.tokens, self.position)
            body = self.inner(self.tokens[self.position + 1 : end]).block()
            self.position = end + 1
            return body
        method = getattr(self, f"_read_{word}", None) if token.kind == "word" else None
        if method is not None:
            self.position += 1
            read: Statement = method(token.line)
            return read
        if word in ("switch", "goto", "try", "case", "asm", "__asm__", "using", "typedef"):
            fail(f"line {token.line} holds a statement that is not replayed")
        if self.skip(";"):
            return lambda state, names: NEXT
        statement = self.declaration() if self.is_declaration() else self.expressions()
        self.take(";")
        return statement

    def expressions(self) -> Statement:
        """Read expressions, separated by commas."""
        values = [self.expression().value]
        while self.skip(","):
            values.append(self.expression().value)

        def run(state: ReplayState, names: Names) -> int:
            for value in values:
                value(state, names)
            return NEXT

        return run

    def in_parentheses(self) -> _Parser:
        end = closing(self.tokens, self.position)
        inner = self.inner(self.tokens[self.position + 1 : end])
        self.position = end + 1
        return inner

    def _read_break(self, line: int) -> Statement:
        self.take(";")
        return lambda state, names: BREAK

    def _read_continue(self, line: int) -> Statement:
        self.take(";")
        return lambda state, names: CONTINUE

    def _read_return(self, line: int) -> Statement:
        value = None if self.text() == ";" else self.expression().value
        self.take(";")

        def run(state: ReplayState, names: Names) -> int:
            if value:
                names[RESULT] = value(state, names)
            return RETURN

        return run

    def _read_if(self, line: int) -> Statement:
        self.skip("constexpr")
        test = self.in_parentheses().expression().value
        body = self.scoped()
        other = self.scoped() if self.skip("else") else None

        def run(state: ReplayState, names: Names) -> int:
            value, joined = test(state, names)
            before = state.guard
            state.guard = state.flow.join(before, joined)
            chosen = body if truth(value, line) else other
            signal = chosen(state, names) if chosen else NEXT
            state.guard = before
            return signal

        return run

    def scoped(self) -> Statement:
        self.scopes.append({})
        statement = self.statement()
        self.scopes.pop()
        return statement

    def _read_while(self, line: int) -> Statement:
        test = self.in_parentheses().expression().value
        return _loop(line, None, test, None, self.scoped())

    def _read_do(self, line: int) -> Statement:
        body = self.scoped()
        self.take("while")
        test = self.in_parentheses().expression().value
        self.take(";")
        return _loop(line, None, test, None, body, runs_first=True)

    def _read_for(self, line: int) -> Statement:
        head = self.in_parentheses()
        self.scopes.append({})
        start = None
        if head.text() != ";":
            start = head.declaration() if head.is_declaration() else head.expressions()
        head.take(";")
        test = None if head.text() == ";" else head.expression().value
        head.take(";")
        step = head.expressions() if head.position < len(head.tokens) else None
        body = self.scoped()
        self.scopes.pop()
        return _loop(line, start, test, step, body)

    def declaration(self) -> Statement:
        """Read a declaration without its semicolon."""
        first = self.position
        kind = self.type_name()
        words = [token.text for token in self.tokens[first : self.position]]
        is_shared, is_dynamic = "__shared__" in words, "extern" in words
        parts = [self._declarator(kind, is_shared=is_shared, is_dynamic=is_dynamic)]
        while self.skip(","):
            parts.append(self._declarator(kind, is_shared=is_shared, is_dynamic=is_dynamic))
        if len(parts) == 1:
            return parts[0]

        def run(state: ReplayState, names: Names) -> int:
            for part in parts:
                part(state, names)
            return NEXT

        return run

    def _declarator(self, kind: NumberType | None, *, is_shared: bool, is_dynamic: bool) -> Statement:
        is_pointer = is_reference = False
        while self.text() in ("*", "&", "const", "__restrict__", "__restrict"):
            text = self.take().text
            is_pointer, is_reference = is_pointer or text == "*", is_reference or text == "&"
        token = self.take()
        if token.kind != "word":
            fail(f"line {token.line} holds a declaration that is not replayed")
        dimensions = 0
        while self.text() == "[":
            self.position = closing(self.tokens, self.position) + 1
            dimensions += 1
        if is_shared:
            pointer = Pointer("" if is_dynamic else token.text, max(1, dimensions))
            slot = self.declare(token.text, None)
            held: Pair = (pointer if dimensions else Place(pointer), 0)
            return _set(slot, lambda state, names: held)
        initial = self._initial(token)
        slot = self.declare(token.text, None if is_pointer or is_reference or dimensions else kind)
        if dimensions:
            parts = initial if isinstance(initial, list) else []
            return _set(slot, lambda state, names: new_array(state, names, dimensions, parts))
        if is_reference and isinstance(initial, CppExpression) and initial.place is not None:
            place = initial.place
            return _set(slot, lambda state, names: (place(state, names), 0))
        if isinstance(initial, list):
            if len(initial) > 1:
                return _set(slot, lambda state, names: pack(state, [part(state, names) for part in initial]))
            value = initial[0] if initial else (lambda state, names: (0, 0))
        elif initial is None:
            return _set(slot, lambda state, names: (UNKNOWN, 0))
        else:
            value = initial.value
        if is_pointer or kind is None:
            return _set(slot, value)

        def converted(state: ReplayState, names: Names) -> Pair:
            number, node = value(state, names)
            return kind.convert(number), node

        return _set(slot, converted)

    def _initial(self, token: Token) -> CppExpression | list[Expression] | None:
        self.scopes.append({})
        try:
            if self.skip("=") and self.text() != "{":
                return self.expression()
            if self.text() not in ("{", "("):
                return None
            end = closing(self.tokens, self.position)
            parts = split_at_commas(self.tokens[self.position + 1 : end])
            self.position = end + 1
            if any(part and part[0].text == "{" for part in parts):
                fail(f"line {token.line} holds a declaration that is not replayed")
            return [self.inner(part).expression().value for part in parts]
        finally:
            self.scopes.pop()

    # Expressions

    def expression(self) -> CppExpression:
        """Read an assignment, or an expression without one."""
        target = self._conditional()
        operator = self.text()
        if operator not in _ASSIGNING:
            return target
        token = self.take()
        source, access = self.expression(), (token.line, token.column)
        if target.place is None:
            fail(f"line {token.line} assigns to an unusual target")
        find, function = target.place, None if operator == "=" else OPERATORS[operator[:-1]]

        def run(state: ReplayState, names: Names) -> Pair:
            pair = source.value(state, names)
            place = find(state, names)
            if isinstance(place, Pointer):
                fail(f"line {access[0]} assigns to an unusual target")
            if function is not None:
                pair = combined(state, function, place.load(state, access), pair)
            place.store(state, access, pair)
            return pair

        return CppExpression(run, find, target.access)

    def _conditional(self) -> CppExpression:
        test = self._binary(0)
        if self.text() != "?":
            return test
        line = self.take().line
        body = self.expression()
        self.take(":")
        other = self.expression()

        def run(state: ReplayState, names: Names) -> Pair:
            return (body if truth(test.value(state, names)[0], line) else other).value(state, names)

        return CppExpression(run, None, test.access)

    def _binary(self, level: int) -> CppExpression:
        if level == len(_PRECEDENCE):
            return self._unary()
        left = self._binary(level + 1)
        while self.text() in _PRECEDENCE[level]:
            operator = self.take()
            right = self._binary(level + 1)
            left = operation(operator, left, right)
        return left

    def _unary(self) -> CppExpression:
        token = self.tokens[self.position]
        access, word = (token.line, token.column), token.text
        if word in ("++", "--"):
            self.position += 1
            return increment(self._unary(), 1 if word == "++" else -1, access, returns_old=False)
        if word in ("-", "+", "!", "~"):
            self.position += 1
            function = UNARY[{"-": "USub", "+": "UAdd", "!": "Not", "~": "Invert"}[word]]
            operand = self._unary()

            def run(state: ReplayState, names: Names) -> Pair:
                value, node = operand.value(state, names)
                return computed(function, value), node

            return CppExpression(run, None, operand.access)
        if word == "*":
            self.position += 1
            pointer = self._unary()
            return loaded_expression(
                lambda state, names: element(pointer.value(state, names), (0, 0)), access
            )
        if word == "&":
            self.position += 1
            operand = self._unary()
            if operand.place is None:
                fail(f"line {token.line} takes the address of an unusual value")
            find = operand.place
            return CppExpression(lambda state, names: address(find(state, names)), None, access)
        if word == "(" and self.begins_type(1):
            end = closing(self.tokens, self.position)
            inner = self.in_parentheses()
            kind = inner.type_name()
            is_pointer = any(t.text == "*" for t in inner.tokens[inner.position :])
            assert self.position == end + 1
            return cast_expression(self._unary(), kind, is_pointer=is_pointer)
        if word == "sizeof":
            self.position += 1
            self.position = closing(self.tokens, self.position) + 1
            return constant_expression(UNKNOWN, access)
        return self._postfix()

    def _postfix(self) -> CppExpression:
        expression = self._primary()
        while True:
            token = self.tokens[self.position] if self.position < len(self.tokens) else None
            word = token.text if token else ""
            if word == "[":
                index = self.in_parentheses().expression()
                expression = subscript(expression, index)
            elif word in ("++", "--") and token:
                self.position += 1
                access = (token.line, token.column)
                expression = increment(expression, 1 if word == "++" else -1, access, returns_old=True)
            elif word in (".", "->"):
                self.position += 1
                name = self.take()
                if self.text() == "(":
                    arguments = self._arguments()
                    expression = unknown_call(
                        [expression.value, *(a.value for a in arguments)], expression.access
                    )
                else:
                    expression = field_expression(expression, name, is_arrow=word == "->")
            else:
                return expression

    def _arguments(self) -> list[CppExpression]:
        end = closing(self.tokens, self.position)
        parts = split_at_commas(self.tokens[self.position + 1 : end])
        self.position = end + 1
        return [self.inner(part).expression() for part in parts if part and part[0].kind != "text"]

    def _primary(self) -> CppExpression:
        token = self.take()
        access = (token.line, token.column)
        if token.kind == "number":
            return constant_expression(number_of(token.text), access)
        if token.kind == "text":
            return constant_expression(
                ord(token.text[1]) if len(token.text) == 3 and token.text[0] == "'" else UNKNOWN, access
            )
        if token.text == "(":
            self.position -= 1
            inner = self.in_parentheses().expression()
            return CppExpression(inner.value, inner.place, inner.access)
        if token.kind != "word":
            fail(f"line {token.line} is not read from {token.text!r} on")
        if token.text in _NAMED_CASTS:
            self.take("<")
            kind, is_pointer = self.type_name(), False
            while self.text() != ">":
                is_pointer |= self.take().text == "*"
            self.take(">")
            return cast_expression(self.in_parentheses().expression(), kind, is_pointer=is_pointer)
        if self.text() == "(" and token.text in NUMBER_WORDS:
            kind = number_type_of([token.text])
            return cast_expression(self.in_parentheses().expression(), kind, is_pointer=False)
        while self.text() == "::":  # the last name counts: std::min, cg::this_thread_block
            self.position += 1
            token = self.take()
        if (
            self.text() == "<"
            and token.text in self.program.text.functions
            and self.lookup(token.text) is None
        ):
            return self._call(token, access, self._template_arguments())
        if self.text() == "(" and self.lookup(token.text) is None:
            return self._call(token, access, ())
        return self._name(token, access)

    def _template_arguments(self) -> tuple[object, ...]:
        """Read the arguments of a template: numbers; None for types."""
        self.take("<")
        values: list[object] = []
        while True:
            if self.begins_type():
                self.type_name()
                while self.text() in ("*", "const"):
                    self.position += 1
                values.append(None)
            else:
                value = self._binary(len(_PRECEDENCE) - 2).value
                state = ReplayState.__new__(ReplayState)
                try:
                    values.append(value(state, {})[0])
                except AttributeError:
                    fail(
                        f"line {self.tokens[self.position].line} has a template's argument that is not replayed"
                    )
            if not self.skip(","):
                break
        self.take(">")
        return tuple(values)

    def _name(self, token: Token, access: AccessPosition) -> CppExpression:
        name, program = token.text, self.program
        if (declared := self.lookup(name)) is not None:
            slot, kind = declared

            def find(state: ReplayState, names: Names) -> Place | Pointer:
                value = names.get(slot, (UNKNOWN, 0))[0]
                if isinstance(value, Place):
                    return value  # a reference, or a variable in shared memory
                return Place(names=names, slot=slot, kind=kind)

            return loaded_expression(find, access)
        if name in POSITIONS and self.text() == ".":
            self.position += 1
            key = f"{name}.{self.take().text}"
            return CppExpression(lambda state, names: (state.position.get(key, UNKNOWN), 0), None, access)
        if name in self.template:
            return constant_expression(self.template[name], access)
        if name in program.constants:
            return constant_expression(program.constants[name], access)
        if name in _CONSTANTS:
            return constant_expression(_CONSTANTS[name], access)
        if name in program.text.constants:
            return self.inner(
                [t._replace(line=access[0], column=access[1]) for t in program.text.constants[name]]
            ).expression()
        if name in program.text.memory:
            pointer = Pointer(name)
            held = pointer if program.text.memory[name] else Place(pointer)
            return loaded_expression(lambda state, names: held, access)
        return constant_expression(UNKNOWN, access)

    def _call(self, token: Token, access: AccessPosition, template: tuple[object, ...]) -> CppExpression:
        arguments, name, program = self._arguments(), token.text, self.program
        if name in program.text.functions:
            return CppExpression(
                lambda state, names: _called(program, name, template, arguments, state, names), None, access
            )
        values = [argument.value for argument in arguments]
        if name.startswith("atomic"):
            return CppExpression(
                lambda state, names: atomic(state, names, name, access, values), None, access
            )
        if name.startswith(_SILENT) and not name.startswith("__syncthreads_"):
            return unknown_call(values, access)
        if name.startswith("__") and name.endswith("_sync"):
            return CppExpression(
                lambda state, names: exchange(state, names, name, access, values), None, access
            )
        if name.startswith("make_"):
            return CppExpression(
                lambda state, names: pack(state, [value(state, names) for value in values]), None, access
            )
        base = name.removesuffix("f") if name.endswith("f") and f"math.{name[:-1]}" in FUNCTIONS else name
        function = (
            FUNCTIONS.get(_RENAMED.get(name, "")) or FUNCTIONS.get(f"math.{base}") or FUNCTIONS.get(base)
        )
        if function is None:
            return unknown_call(values, access)

        def run(state: ReplayState, names: Names) -> Pair:
            given = [value(state, names) for value in values]
            return computed(function, *(value for value, _ in given)), joined(state, given)

        return CppExpression(run, None, access)


def _set(slot: str, value: Expression) -> Statement:
    def run(state: ReplayState, names: Names) -> int:
        names[slot] = value(state, names)
        return NEXT

    return run


def _loop(
    line: int,
    start: Statement | None,
    test: Expression | None,
    step: Statement | None,
    body: Statement,
    *,
    runs_first: bool = False,
) -> Statement:
    def run(state: ReplayState, names: Names) -> int:
        if start:
            start(state, names)
        before, is_first = state.guard, runs_first
        while True:
            state.spend()
            value, joined = test(state, names) if test and not is_first else (True, 0)
            is_first = False
            if not truth(value, line):
                state.guard = before
                return NEXT
            state.guard = state.flow.join(before, joined)
            signal = body(state, names)
            if step and signal not in (BREAK, RETURN):
                step(state, names)
            state.guard = before
            if signal in (BREAK, RETURN):
                return NEXT if signal == BREAK else RETURN

    return run


def _called(
    program: CppProgram,
    name: str,
    template: tuple[object, ...],
    arguments: Sequence[CppExpression],
    state: ReplayState,
    names: Names,
) -> Pair:
    """Replay a call of a function of the text; return its result."""
    state.spend()
    parameters, body = program.function(name, template)
    references = program._parser(name, template)[2].references
    if state.depth >= DEEPEST or len(arguments) > len(parameters):
        fail(f"the call of {name} is not replayed")
    own: Names = {}
    for parameter, is_reference, argument in zip(parameters, references, arguments, strict=False):
        if is_reference and argument.place is not None:
            target = argument.place(state, names)
            own[parameter] = target, (target.node if isinstance(target, Pointer) else 0)
        else:
            own[parameter] = argument.value(state, names)
    state.depth += 1
    body(state, own)
    state.depth -= 1
    return own.get(RESULT, (UNKNOWN, 0))
