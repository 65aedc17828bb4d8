"""`tilescope completion`: a script that completes commands, options, their choices and scenarios in a shell.

The words are stored in the script, so that completion never waits for Python to start.
"""

from __future__ import annotations

from argparse import Action
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, get_args

from .common.arguments import Parser

SHELLS = ("bash", "zsh", "fish")

# `line` is the text between `tilescope` and the word to complete, with a space before and after. The cases set
# `names`, and `options` for words that begin with a dash; if none matches, file names are completed.
BASH = r"""_tilescope_parameters() {
    case ${1%%:*} in
@PARAMETERS@
    esac
}
_tilescope() {
    local IFS=$' \t\n' names= options= scenarios="@SCENARIOS@" lectures="@LECTURES@" exercises="@EXERCISES@"
    local word=${COMP_WORDS[COMP_CWORD]} line=" ${COMP_WORDS[*]:1:COMP_CWORD-1} "
    local typed=${COMP_LINE:0:COMP_POINT}
    typed=${typed##* }
    if [[ $typed == *:* ]] && names=$(_tilescope_parameters "$typed") && [[ -n $names ]]; then
        # bash takes a scenario apart at : and =, and replaces the part that the cursor is in
        local last=${typed##*[:,]} part=${typed##*[:=]} match
        [[ $last == *=* ]] || names=$(for match in $names; do echo "${match%%=*}="; done | uniq)
        COMPREPLY=()
        for match in $(compgen -W "$names" -- "$last"); do
            match=${typed%"$last"}$match
            COMPREPLY+=("${match#"${typed%"$part"}"}")
        done
        [[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace 2>/dev/null
        return
    fi
@CASES@
    [[ $word == -* ]] && names=$options
    COMPREPLY=($(compgen -W "$names" -- "$word"))
}
complete -o default -F _tilescope tilescope"""
ZSH = """#compdef tilescope
_tilescope_parameters() {
    case ${1%%:*} in
@PARAMETERS@
    esac
}
_tilescope() {
    local names= options= scenarios="@SCENARIOS@" lectures="@LECTURES@" exercises="@EXERCISES@"
    local match word=${words[CURRENT]} line=" ${words[2,CURRENT-1]} "
    if [[ $word == *:* ]] && names=$(_tilescope_parameters "$word") && [[ -n $names ]]; then
        compset -P '*[:,]'
        [[ $PREFIX == *=* ]] || names=$(for match in ${=names}; do echo "${match%%=*}="; done | uniq)
        compadd -S '' -- ${=names}
        return
    fi
@CASES@
    [[ $word == -* ]] && names=$options
    [[ -n $names ]] && compadd -- ${=names} || _files
}
if [[ $funcstack[1] == _tilescope ]]; then _tilescope "$@"; else compdef _tilescope tilescope; fi"""
AFTER_SCRIPT = '*".py "*|*".ipynb "*|*" -m "*'  # after these, words belong to a program


class CompletedCommand(NamedTuple):
    """A command as the scripts complete it."""

    name: str  # "" opens the window
    help: str
    parser: Parser  # with its arguments


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Print a script that completes commands, options, choices, names, and parameters of scenarios in a shell. "
        "Bash looks for it in ~/.local/share/bash-completion/completions/tilescope, zsh in the file _tilescope in a "
        "folder of its fpath, fish in ~/.config/fish/completions/tilescope.fish."
    )
    parser.add_argument("shell", choices=SHELLS)


def script(shell: str, commands: Sequence[CompletedCommand]) -> str:
    """Build the script for one of SHELLS."""
    if shell == "fish":
        return "\n".join([*_fish_parameters(), *_fish_lines(commands)])
    cases = "\n".join(f"    {line}" for line in _cases(commands))
    parameters = "\n".join(
        f'        {"|".join(names)}) echo "{words}" ;;' for words, names in _parameters().items()
    )
    text = (BASH if shell == "bash" else ZSH).replace("@CASES@", cases).replace("@PARAMETERS@", parameters)
    for name, words in _NAMES.items():
        text = text.replace(f"@{name.upper()}@", " ".join(words()))
    return text


def _lectures() -> Iterable[str]:
    from ..lectures.model.library import lecture_name, shipped_lectures

    return map(lecture_name, shipped_lectures())


def _exercises() -> Iterable[str]:
    from ..exercises.model.library import exercises_in

    return [exercise.name for exercise in exercises_in()[0]]


def _scenarios() -> Iterable[str]:
    from ...kernels.scenarios.catalogue import names

    return names()


_NAMES: dict[
    str, Callable[[], Iterable[str]]
] = {  # values of a command's arguments, by their name in the scripts
    "scenarios": _scenarios,
    "lectures": _lectures,
    "exercises": _exercises,
}
_NAMES_OF_ARGUMENT = {
    "scenario": "scenarios",
    "what": "scenarios",
    "lecture": "lectures",
    "words": "exercises",
}


def _parameters() -> dict[str, list[str]]:
    """Map the words that may follow a scenario's colon, as `tile=8`, or `m=` for a number, to scenario names."""
    from ...kernels.scenarios.catalogue import scenarios
    from ...tracer.model.launch import ScheduleKind
    from ...tracer.model.plan import SPEC_OPTIONS

    names_by_words: dict[str, list[str]] = {}
    for scenario in scenarios():
        words = [
            f"{parameter.name}={choice}"
            for parameter in scenario.parameters
            for choice in parameter.choices or [""]
        ]
        orders = [f"schedule={kind}" for kind in get_args(ScheduleKind) if kind != "order"]
        others = [f"{option}=" for option in SPEC_OPTIONS if option != "schedule"]
        names_by_words.setdefault(" ".join([*words, *orders, *others]), []).append(scenario.name)
    return names_by_words


def _options(parser: Parser) -> list[Action]:
    return [action for action in parser._actions if action.option_strings]  # there is no public list


def _arguments(parser: Parser) -> list[Action]:
    return [action for action in parser._actions if not action.option_strings]


def _names(parser: Parser) -> str:
    """Return the words that a command takes besides options: choices, or the variable that holds the names."""
    arguments = _arguments(parser)
    choices = " ".join(_choices(argument) for argument in arguments)
    return next(
        (f"${_NAMES_OF_ARGUMENT[a.dest]}" for a in arguments if a.dest in _NAMES_OF_ARGUMENT), choices
    )


def _choices(action: Action) -> str:
    return " ".join(map(str, action.choices or ()))


def _first_words(commands: Sequence[CompletedCommand]) -> str:
    return " ".join(dict.fromkeys(name.split()[0] for name, _, _ in commands if name))


def _cases(commands: Sequence[CompletedCommand]) -> Iterator[str]:
    """Yield the `case` that bash and zsh share."""
    yield 'case "$line" in'
    yield '    *[:=]" ") ;;  # bash takes a scenario apart there'
    parsers = {name: parser for name, _, parser in commands}
    for name, _, parser in commands:
        first, _, second = name.partition(" ")
        if second:
            names = f"{second} {_names(parsers[first])}" if first in parsers else second
            options = _strings(parsers[first]) if first in parsers else ""
            yield f'    " {first} ") names="{names}" options="{options}" ;;'
        if name:
            yield f'    " {name} "*) case "$line" in'
            yield from _command_cases(parser)
            yield "    esac ;;"
    (window,) = (parser for name, _, parser in commands if not name)
    options = _strings(window)
    yield f'    "  ") names="{_first_words(commands)} $scenarios" options="{options}" ;;'
    yield f'    *) names="$scenarios" options="{options}" ;;'
    yield "esac"


def _command_cases(parser: Parser) -> Iterator[str]:
    """Yield the cases of one command: after the script of a program, after an option with a value, and else."""
    if not _arguments(parser):
        yield f"        {AFTER_SCRIPT}) ;;"
    for option in _options(parser):
        if option.nargs != 0:
            previous = "|".join(f'*" {string} "' for string in option.option_strings)
            yield f'        {previous}) names="{_choices(option)}" ;;'
    yield f'        *) names="{_names(parser)}" options="{_strings(parser)}" ;;'


def _strings(parser: Parser) -> str:
    return " ".join(string for option in _options(parser) for string in option.option_strings)


def _fish_parameters() -> Iterator[str]:
    """Yield functions that complete the text after a scenario's colon, and lists of names."""
    yield "function __tilescope_parameters"
    yield "    set -l token (commandline -ct)"
    yield "    string match -q '*:*' -- $token; or return"
    yield "    set -l before (string replace -r '[^:,]*$' '' -- $token)"
    yield "    switch (string split -m 1 : -- $token)[1]"
    for words, names in _parameters().items():
        yield f"        case {' '.join(names)}"
        yield f"            printf '%s\\n' $before{{{','.join(words.split())}}}"
    yield "    end"
    yield "end"


def _fish_lines(commands: Sequence[CompletedCommand]) -> Iterator[str]:
    """Yield a line for each word that fish completes, with its condition and description."""
    for name, text, parser in commands:
        first, _, second = name.partition(" ")
        condition = f"__fish_seen_subcommand_from {second or first}" if name else "__fish_use_subcommand"
        longer = [other.split()[1] for other, _, _ in commands if name and other.startswith(f"{name} ")]
        condition += "".join(f"; and not __fish_seen_subcommand_from {word}" for word in longer)
        if name:
            yield _fish_line("__fish_use_subcommand", f"-a {first} -d {_quoted(text)}")
        if second:
            yield _fish_line(f"__fish_seen_subcommand_from {first}; and not {condition}", f"-a {second}")
        if not _arguments(parser):
            condition += '; and not string match -q -- "*.py" (commandline -opc)'
            condition += '; and not string match -q -- "*.ipynb" (commandline -opc)'
        if names := _names(parser):
            kept = _NAMES.get(names.removeprefix("$"))
            yield _fish_line(condition, f"-a {_quoted(' '.join(kept()) if kept else names)}")
        if names == "$scenarios":
            yield _fish_line(condition, "-a '(__tilescope_parameters)'")
        for option in _options(parser):
            yield _fish_line(condition, _fish_option(option))


def _fish_line(condition: str, completion: str) -> str:
    return f"complete -c tilescope -n {_quoted(condition)} {completion}"


def _fish_option(option: Action) -> str:
    """Format an option as `complete` takes it: its strings, its values if any, and its help."""
    strings = " ".join(f"-l {s[2:]}" if s.startswith("--") else f"-s {s[1:]}" for s in option.option_strings)
    is_file = any(word in str(option.metavar) for word in ("FILE", "FOLDER", "DIR"))
    value = "" if option.nargs == 0 else " -r" if is_file else " -x"
    choices = f" -a {_quoted(_choices(option))}" if option.choices else ""
    return strings + value + choices + (f" -d {_quoted(option.help)}" if option.help else "")


def _quoted(text: str) -> str:
    """Return text in fish's single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
