"""Times, shares and numbers of things, in words: the same in the terminal and on pages."""


def clock(seconds: float, digits: int = 0) -> str:
    """A time as hours, minutes and seconds, such as 1:02:03 or 0:05.25."""
    ticks = round(seconds * 10**digits)
    whole, part = divmod(ticks, 10**digits)
    minutes, whole = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    head = f"{hours}:{minutes:02}" if hours else f"{minutes}"
    return f"{head}:{whole:02}" + (f".{part:0{digits}}" if digits else "")


def share(value: float) -> str:
    """A share in percent."""
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"


def counted(number: int, name: str) -> str:
    """A number of things, such as 1 frame or 2,000 frames."""
    return f"{number:,} {name if number == 1 else f'{name}s'}"
