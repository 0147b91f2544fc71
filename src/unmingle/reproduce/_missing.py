"""What every experiment may have to say."""


class DataMissing(ValueError):
    """There are no data where they were looked for."""
