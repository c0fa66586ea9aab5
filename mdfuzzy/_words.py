"""Numbers of things in words."""


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "frame"), counted(1200, "frame"), counted(0, "peak of noise")
    ('1 frame', '1,200 frames', '0 peaks of noise')
    """
    first, space, rest = noun.partition(" ")
    return f"{number:,} {first}{'s' * (number != 1)}{space}{rest}"
