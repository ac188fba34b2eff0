"""What a table gives away without noise; generalisation; reconstruction."""

__all__: list[str] = []
