"""What is written on a terminal or into a pipe, and how."""
