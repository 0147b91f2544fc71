"""What all measures ask of what they compare."""


def check_same_shape(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raise an error unless both have one shape."""
    if shape != expected:
        raise ValueError(f"{name} must have the shape of truth, {expected}; got {shape}.")
