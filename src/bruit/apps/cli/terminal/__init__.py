"""What every command shares: lazily loaded groups, tables, JSON and progress bars."""
