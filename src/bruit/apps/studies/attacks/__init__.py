"""A gallery of attacks: each with a defence, and an audit of the defence."""
