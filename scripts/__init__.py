"""What the make targets rest on."""
