"""What is wrong with a file."""


class TableError(ValueError):
    """A file that holds no usable table, with the reason in one sentence."""
