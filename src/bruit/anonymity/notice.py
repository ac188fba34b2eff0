"""What every output of this package says about itself."""

NOT_A_RELEASE = (
    "Exact figures for the curator of the table: not a release. They stand outside every privacy guarantee; "
    "publishing them can reveal people."
)
