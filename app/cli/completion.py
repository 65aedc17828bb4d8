"""`tilescope completion`: a script with which a shell completes commands, options, their choices and scenarios.

The words stand in the script, so that no key waits for Python to start.
"""

from __future__ import annotations

from argparse import Action
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .common.arguments import Parser

SHELLS = ("bash", "zsh", "fish")

# `line` is what stands between `tilescope` and the word to complete, with a space before and after. The cases set
# `names`, and `options` for after a dash; where none begins like the word, names of files do.
BASH = r"""_tilescope() {
    local IFS=$' \t\n' names= options= scenarios="@SCENARIOS@"
    local word=${COMP_WORDS[COMP_CWORD]} line=" ${COMP_WORDS[*]:1:COMP_CWORD-1} "
@CASES@
    [[ $word == -* ]] && names=$options
    COMPREPLY=($(compgen -W "$names" -- "$word"))
}
complete -o default -F _tilescope tilescope"""
ZSH = """#compdef tilescope
_tilescope() {
    local names= options= scenarios="@SCENARIOS@"
    local word=${words[CURRENT]} line=" ${words[2,CURRENT-1]} "
@CASES@
    [[ $word == -* ]] && names=$options
    [[ -n $names ]] && compadd -- ${=names} || _files
}
if [[ $funcstack[1] == _tilescope ]]; then _tilescope "$@"; else compdef _tilescope tilescope; fi"""
AFTER_SCRIPT = '*".py "*|*".ipynb "*|*" -m "*'  # from where on words are a program's


class CompletedCommand(NamedTuple):
    """A command as the scripts complete it."""

    name: str  # "" where the window is opened
    help: str
    parser: Parser  # with its arguments


def add_arguments(parser: Parser) -> None:
    parser.description = (
        "Print a script with which a shell completes commands, options, choices and scenarios. Bash looks for it in "
        "~/.local/share/bash-completion/completions/tilescope, zsh in the file _tilescope of a folder of its fpath, "
        "fish in ~/.config/fish/completions/tilescope.fish."
    )
    parser.add_argument("shell", choices=SHELLS)


def script(shell: str, commands: Sequence[CompletedCommand]) -> str:
    """Return the script for one of SHELLS."""
    from ...kernels.scenarios.catalogue import names

    scenarios = " ".join(names())
    if shell == "fish":
        return "\n".join(_fish_lines(commands, scenarios))
    cases = "\n".join(f"    {line}" for line in _cases(commands))
    return (BASH if shell == "bash" else ZSH).replace("@CASES@", cases).replace("@SCENARIOS@", scenarios)


def _options(parser: Parser) -> list[Action]:
    return [action for action in parser._actions if action.option_strings]  # no public list has them


def _arguments(parser: Parser) -> list[Action]:
    return [action for action in parser._actions if not action.option_strings]


def _names(parser: Parser, scenarios: str) -> str:
    """Return the words that a command takes beside options: choices, or the scenarios; "" where it takes neither."""
    arguments = _arguments(parser)
    choices = " ".join(_choices(argument) for argument in arguments)
    return scenarios if any(argument.dest in ("scenario", "what") for argument in arguments) else choices


def _choices(action: Action) -> str:
    return " ".join(map(str, action.choices or ()))


def _first_words(commands: Sequence[CompletedCommand]) -> str:
    return " ".join(dict.fromkeys(name.split()[0] for name, _, _ in commands if name))


def _cases(commands: Sequence[CompletedCommand]) -> Iterator[str]:
    """Yield the `case` that bash and zsh share."""
    yield 'case "$line" in'
    yield '    *[:=]" ") ;;  # bash takes a scenario apart there'
    alone = {name: parser for name, _, parser in commands}
    for name, _, parser in commands:
        first, _, second = name.partition(" ")
        if second:
            names = f"{second} {_names(alone[first], '$scenarios')}" if first in alone else second
            options = _strings(alone[first]) if first in alone else ""
            yield f'    " {first} ") names="{names}" options="{options}" ;;'
        if name:
            yield f'    " {name} "*) case "$line" in'
            yield from _cases_of(parser)
            yield "    esac ;;"
    (window,) = (parser for name, _, parser in commands if not name)
    options = _strings(window)
    yield f'    "  ") names="{_first_words(commands)} $scenarios" options="{options}" ;;'
    yield f'    *) names="$scenarios" options="{options}" ;;'
    yield "esac"


def _cases_of(parser: Parser) -> Iterator[str]:
    """Yield the cases of one command: after the script of a program, after an option with a value, and else."""
    if not _arguments(parser):
        yield f"        {AFTER_SCRIPT}) ;;"
    for option in _options(parser):
        if option.nargs != 0:
            after = "|".join(f'*" {string} "' for string in option.option_strings)
            yield f'        {after}) names="{_choices(option)}" ;;'
    yield f'        *) names="{_names(parser, "$scenarios")}" options="{_strings(parser)}" ;;'


def _strings(parser: Parser) -> str:
    return " ".join(string for option in _options(parser) for string in option.option_strings)


def _fish_lines(commands: Sequence[CompletedCommand], scenarios: str) -> Iterator[str]:
    """Yield a line for each word that fish completes, with the condition under which it does, and what it means."""
    for name, text, parser in commands:
        first, _, second = name.partition(" ")
        when = f"__fish_seen_subcommand_from {second or first}" if name else "__fish_use_subcommand"
        longer = [other.split()[1] for other, _, _ in commands if name and other.startswith(f"{name} ")]
        when += "".join(f"; and not __fish_seen_subcommand_from {word}" for word in longer)
        if name:
            yield _fish_line("__fish_use_subcommand", f"-a {first} -d {_quoted(text)}")
        if second:
            yield _fish_line(f"__fish_seen_subcommand_from {first}; and not {when}", f"-a {second}")
        if not _arguments(parser):
            when += '; and not string match -q -- "*.py" (commandline -opc)'
            when += '; and not string match -q -- "*.ipynb" (commandline -opc)'
        if names := _names(parser, scenarios):
            yield _fish_line(when, f"-a {_quoted(names)}")
        for option in _options(parser):
            yield _fish_line(when, _fish_option(option))


def _fish_line(when: str, what: str) -> str:
    return f"complete -c tilescope -n {_quoted(when)} {what}"


def _fish_option(option: Action) -> str:
    """Return an option as `complete` takes it: its strings, whether it has a value and which, and its help."""
    strings = " ".join(f"-l {s[2:]}" if s.startswith("--") else f"-s {s[1:]}" for s in option.option_strings)
    is_file = any(word in str(option.metavar) for word in ("FILE", "FOLDER", "DIR"))
    value = "" if option.nargs == 0 else " -r" if is_file else " -x"
    choices = f" -a {_quoted(_choices(option))}" if option.choices else ""
    return strings + value + choices + (f" -d {_quoted(option.help)}" if option.help else "")


def _quoted(text: str) -> str:
    """Return text in fish's single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
