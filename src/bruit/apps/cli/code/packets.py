"""`bruit code raptorq`: a file as packets for a line that loses some, and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, writing
from bruit.codes import RaptorQFile
from bruit.errors import BadFile, InvalidArgument

HEADER = 12
"""Bytes before the packets of a file: what receivers need to know."""

NUMBER = 4
"""Bytes before the symbol of a packet."""


@click.command("raptorq", epilog=examples("bruit code raptorq send report.json report.packets --repair 20"))
@click.argument("action", type=click.Choice(["send", "receive"]))
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--repair", type=click.IntRange(min=0), help="How many packets more than needed are sent of each block (send)."
)
@click.option(
    "--symbol", type=int, default=1280, show_default=True, help="How many bytes of the file a packet has (send)."
)
@click.option("--lost", default="", help="The positions of packets to lose, counted from 0, such as 0,3 (receive).")
@json_option
def raptorq(
    *, action: str, source: Path, target: Path, repair: int | None, symbol: int, lost: str, as_json: bool
) -> None:
    """Cut a file into packets, any sufficient number of which give it back (RaptorQ, RFC 6330).

    A file of packets is a header of 12 bytes, then packets of equal length in any order; any of them may be missing.
    """
    if action == "send" and repair is None:
        raise InvalidArgument("state --repair, the packets to send beyond those needed")
    octets = source.read_bytes()
    made, file, packets = _send(octets, repair or 0, symbol) if action == "send" else _receive(octets, lost)
    with writing(target):
        target.write_bytes(made)
    if as_json:
        print_json({"packets": packets, "needed": file.symbols, "bytes_written": len(made)})
        return
    ways = "made" if action == "send" else "read"
    click.echo(f"{packets} packets {ways}, {file.symbols} are needed; {len(made)} bytes written to {target}")


def _send(content: bytes, repair: int, symbol: int) -> tuple[bytes, RaptorQFile, int]:
    file = RaptorQFile(len(content), symbol=symbol)
    packets = file.packets(content, repair=repair)
    return file.header + packets.tobytes(), file, len(packets)


def _receive(octets: bytes, lost: str) -> tuple[bytes, RaptorQFile, int]:
    file = RaptorQFile.from_header(octets[:HEADER])
    width = NUMBER + file.symbol
    if (len(octets) - HEADER) % width:
        raise BadFile(f"the file ends within a packet: each has {width} bytes; leave out whole ones")
    packets = np.frombuffer(octets, np.uint8, offset=HEADER).reshape(-1, width)
    try:
        kept = np.delete(packets, [int(place) for place in lost.split(",") if place.strip()], axis=0)
    except (ValueError, IndexError) as error:
        raise InvalidArgument(f"--lost {lost!r}: give places from 0 to {len(packets) - 1}, such as 0,3") from error
    return file.content(kept), file, len(kept)
