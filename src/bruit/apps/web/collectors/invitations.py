"""The invitation that the host of a split poll states, and what the second collector adds when it joins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bruit.aggregation import (
    Circuit,
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    Party,
    SumCircuit,
    SumVecCircuit,
    Task,
    chunk_for,
)
from bruit.apps.web.digits import read_digits
from bruit.core.numbers import exactly
from bruit.errors import InvalidArgument

Text = Annotated[str, Field(min_length=1, max_length=200)]
Kind = Literal["yes-no", "choices", "marks", "number", "numbers"]


class Invitation(BaseModel):
    """A question that waits for its second collector; no privacy setting has a default."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: Annotated[str, Field(min_length=1, max_length=500)]
    kind: Kind
    labels: Annotated[list[Text], Field(min_length=1, max_length=1000)]
    largest: Annotated[int, Field(ge=1, le=2**32 - 1, description="The largest number, or the most marks.")] = 1
    epsilon: Annotated[str, Field(pattern=r"^(ln )?[0-9]{1,9}([./][0-9]{1,9})?$")]
    least_batch: int
    name: Text
    address: Annotated[str, Field(max_length=200)]

    def circuit(self) -> Circuit:
        """The circuit of the allowed answers, with the chunk length that keeps reports short."""
        count = len(self.labels)
        if self.kind in ("yes-no", "number") and count != 1:
            raise InvalidArgument(f"a question of kind {self.kind!r} has one number, so give it one label")
        if self.kind == "yes-no":
            return CountCircuit()
        if self.kind == "number":
            return SumCircuit(largest=self.largest)
        if self.kind == "choices":
            return HistogramCircuit(length=count, chunk=chunk_for(count))
        if self.kind == "marks":
            return MultihotCountVecCircuit(
                length=count, chunk=chunk_for(count + self.largest.bit_length()), most=self.largest
            )
        return SumVecCircuit(length=count, chunk=chunk_for(count * self.largest.bit_length()), largest=self.largest)

    def task(self, parties: tuple[Party, Party], key_hash: str) -> Task:
        """The task, once both collectors are known."""
        return Task(
            self.question,
            self.circuit(),
            labels=tuple(self.labels),
            epsilon=exactly(self.epsilon, "ε"),
            least_batch=self.least_batch,
            parties=parties,
            key_hash=key_hash,
        )


class Joining(BaseModel):
    """What the second collector provides: its name, its public encryption key and the verification key."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Text
    sealing_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    verification_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


FIELDS: Final = ("question", "kind", "labels", "largest", "epsilon", "least_batch", "name", "address")
"""The fields of the form of a new poll, all texts; labels stand one a line."""


def read_form(given: Mapping[str, str]) -> Invitation:
    """Reads an invitation from a form; an error says in words what is wrong."""
    labels = [line.strip() for line in given["labels"].splitlines() if line.strip()]
    values: dict[str, object] = {**given, "labels": labels, "least_batch": _whole(given["least_batch"], "least batch")}
    values["largest"] = _whole(given["largest"], "largest number") if given["largest"] else 1
    try:
        invitation = Invitation.model_validate(values)
    except ValidationError as error:
        wrong = sorted({str(one["loc"][0]) for one in error.errors()})
        raise InvalidArgument(f"look again at: {', '.join(wrong)}") from None
    invitation.task((Party(invitation.name, invitation.address), Party("the second collector")), "0" * 64)
    return invitation


def _whole(text: str, name: str) -> int:
    if (number := read_digits(text, most=2**32 - 1)) is None:
        raise InvalidArgument(f"the {name} is a whole number")
    return number
