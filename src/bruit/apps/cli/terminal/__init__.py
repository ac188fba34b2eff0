"""What every command shares: groups that load late, tables, JSON and progress on a terminal."""
