"""Words that a shell completes: commands, their options, experiments and presets, as they are when this is printed.

The script holds all words itself, so that a key costs no start of Python.
"""

import argparse

_SCRIPT = """\
# companion in bash; print it anew after the project gained experiments
_companion() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    else
        case "$before" in
            -p|--preset) COMPREPLY=($(compgen -W "{presets}" -- "$word")); return ;;
            -o|--out) COMPREPLY=($(compgen -d -- "$word")); return ;;
            {valued}) return ;;
        esac
        case "$command" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _companion companion"""
#: Options with a value that is no file and of no list.
_VALUED = ("-t", "--threads", "--budget", "--rounds", "--seed", "--ranks", "--minutes")


def script(parser: argparse.ArgumentParser, experiments: list[str], presets: list[str], shell: str) -> str:
    """The script for a ``shell``, bash or zsh, of the commands of a ``parser``."""
    (commands,) = (each.choices for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    cases = []
    for name, command in commands.items():
        words = [option for action in command._actions for option in action.option_strings]
        positional = [action for action in command._actions if not action.option_strings]
        if any(action.dest in ("experiment", "names") for action in positional):
            words += experiments
        words += [str(choice) for action in positional for choice in action.choices or ()]
        cases.append(f'            {name}) words="{" ".join(words)}" ;;')
    filled = _SCRIPT.format(
        commands=" ".join([*commands, "--help", "--version"]),
        presets=" ".join(presets),
        valued="|".join(_VALUED),
        cases="\n".join(cases),
    )
    return ("autoload -U bashcompinit && bashcompinit\n" if shell == "zsh" else "") + filled
