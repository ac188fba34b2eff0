"""Tables registered in a ledger, their versions, and their cells, which are charged in parallel."""
