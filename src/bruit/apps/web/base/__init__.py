"""The templates and static files that every page shares."""
