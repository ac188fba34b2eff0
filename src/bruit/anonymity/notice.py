"""The notice that every output of this package carries: that it is no privacy guarantee."""

NOT_A_RELEASE = (
    "Exact figures for the curator of the table: not a release. They stand outside every privacy guarantee; "
    "publishing them can reveal people."
)
