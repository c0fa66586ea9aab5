"""Milestoning, visits and transitions, frame by frame: slow and obvious."""


def milestoned(labels: list[int]) -> tuple[list[int], int] | None:
    """Return the last core touched at every frame from the first such frame on, and that frame, or None."""
    last, first, result = None, None, []
    for frame, label in enumerate(labels):
        if label != -1:
            last = label
            if first is None:
                first = frame
        if last is not None:
            result.append(last)
    return None if first is None else (result, first)


def stays(labels: list[int]) -> list[tuple[int, int, bool]]:
    """Return (state, length, whether it was seen to end) for every unbroken stay."""
    result = []
    for frame, label in enumerate(labels):
        if frame == 0 or label != labels[frame - 1]:
            result.append([label, 0, True])
        result[-1][1] += 1
    if result:
        result[-1][2] = False
    return [tuple(each) for each in result]
