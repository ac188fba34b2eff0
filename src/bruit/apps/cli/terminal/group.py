"""A group of commands that loads a command only when it runs."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NoReturn

import rich_click as click

from bruit.apps.cli.terminal.overwriting import refuse_overwriting
from bruit.apps.extras import name_extra
from bruit.errors import BruitError

BAD_INPUT = 2
"""The exit status of whatever bruit refuses; click gives the same to a misspelt option."""

HELP = ["--help"]
"""What a group without a command is taken for: the help goes to the output as `-h` writes it, also into a pipe."""


class DeferredCommand(click.RichCommand):
    """The name and help line of a command whose module is imported only when it runs."""

    def __init__(self, name: str, *, module: str, line: str) -> None:
        super().__init__(name=name, help=line, short_help=line)
        self.module = module

    def load(self) -> click.Command:
        """Imports the module and returns its object `command`."""
        loaded: click.Command = import_module(self.module).command
        return loaded

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Imports the command and makes its click context."""
        command = self.load()
        check_arguments(command, info_name, args, parent)
        asked = HELP if command.no_args_is_help and not args else args
        return command.make_context(info_name, list(asked), parent, **extra)


def check_arguments(command: click.Command, name: str | None, args: list[str], parent: click.Context | None) -> None:
    """Refuses a single-valued option given twice, where click would use the last value, and a file read and written."""
    context = click.Context(command, info_name=name, parent=parent, resilient_parsing=True)
    try:
        given, rest, order = command.make_parser(context).parse_args(list(args))
    except click.UsageError:
        return  # the command itself says what is wrong
    for option in order:
        single = isinstance(option, click.Option) and not option.multiple and not option.is_flag and not option.count
        if single and order.count(option) > 1:
            raise click.UsageError(f"{option.opts[0]} is given twice; it takes one value", context)
    if isinstance(command, click.Group) and rest and (inner := command.get_command(context, rest[0])) is not None:
        check_arguments(inner, rest[0], rest[1:], context)
    else:
        refuse_overwriting(command, given, context)


class DeferredGroup(click.RichGroup):
    """A group of lazily imported commands; bruit's errors are printed as one sentence with exit status 2."""

    def __init__(self, *arguments: Any, package: str, lines: Mapping[str, str], **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.commands = {
            name: DeferredCommand(name, module=f"{package}.{name}", line=line) for name, line in sorted(lines.items())
        }

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Shows the help where no command is named."""
        return super().parse_args(ctx, args if args or ctx.resilient_parsing else list(HELP))

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; an error of bruit, or a missing extra, is printed as one sentence without a traceback."""
        try:
            return super().invoke(ctx)
        except BruitError as error:
            return _refuse(ctx, error)
        except ModuleNotFoundError as error:
            missing = name_extra(error, f"bruit {ctx.invoked_subcommand}")
            if missing is None:
                raise
            return _refuse(ctx, missing)


def _refuse(ctx: click.Context, error: BruitError) -> NoReturn:
    """Says on the error stream why, without a traceback, and ends with status 2."""
    click.echo(f"bruit: {error}", err=True)
    ctx.exit(BAD_INPUT)
