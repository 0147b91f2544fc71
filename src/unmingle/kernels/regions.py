"""Connected regions of a mask."""

import numpy as np

from .compile import merged, piece


@piece
def _root(parents, run):
    """The run that stands for the region of a run; the way there is halved."""
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


@piece
def _skip_empty(mask, words, j, end):
    """The first marked pixel of a mask from j on, or the end; where there are words, eight empty ones go at once."""
    while j < end and not mask[j]:
        if words.size and j % 8 == 0:
            k = j // 8
            while 8 * k < end and words[k] == 0:
                k += 1
            j = 8 * k if 8 * k > j else j + 1
        else:
            j += 1
    return j


@piece
def _find_runs(mask, height, width, words, runs, parents):
    """Row, first column and end of every run, joined with those that touch it in the row above, corners included."""
    count = above = 0
    for i in range(height):
        first_of_row, row, j = count, i * width, 0
        while True:
            start = j = _skip_empty(mask, words, row + j, row + width) - row
            if start == width:
                break
            while j < width and mask[row + j]:
                j += 1
            runs[count, 0], runs[count, 1], runs[count, 2] = i, start, j
            parents[count] = count
            while above < first_of_row and (runs[above, 0] < i - 1 or runs[above, 2] < start):
                above += 1
            other, own = above, count
            while other < first_of_row and runs[other, 1] <= j:
                root = _root(parents, other)
                if root < own:
                    parents[own] = root
                    own = root
                else:
                    parents[root] = own
                other += 1
            count += 1
    return count


@piece
def _measure_regions(runs, parents, count, strong, width, least, boxes, weight):
    """Boxes and areas of the regions, at their roots, with the number of strong pixels as far as it matters."""
    for run in range(count):
        root = _root(parents, run)
        parents[run] = root
        i, start, end = runs[run, 0], runs[run, 1], runs[run, 2]
        if root == run:
            boxes[root, 0], boxes[root, 1], boxes[root, 3], boxes[root, 4], weight[root] = i, start, end, 0, 0
        boxes[root, 1] = start if start < boxes[root, 1] else boxes[root, 1]
        boxes[root, 2] = i + 1
        boxes[root, 3] = end if end > boxes[root, 3] else boxes[root, 3]
        boxes[root, 4] += end - start
        j = start
        while j < end and weight[root] < least:
            weight[root] += strong[i * width + j]
            j += 1


@merged
def keep_regions(mask, height, width, words, strong, least):
    """Erase the regions of a mask that have fewer than ``least`` strong pixels, in place.

    Pixels are connected to their eight neighbours. Regions are joined runs of pixels (union-find), so that the cost is
    a look at every pixel and some work for every run. Rows lie end to end. ``words`` are the mask in words of eight
    pixels, or empty where those do not fit the rows.

    Returns
    -------
    array of shape (k, 5)
        Top, left, bottom, right (the last two exclusive) and area of what stays, from top to bottom.
    """
    most = height * ((width + 1) // 2)
    runs, parents = np.empty((most, 3), np.int32), np.empty(most, np.int32)
    count = _find_runs(mask, height, width, words, runs, parents)
    boxes, weight = np.empty((count, 5), np.int32), np.empty(count, np.int32)
    _measure_regions(runs, parents, count, strong, width, least, boxes, weight)
    kept = 0
    for run in range(count):
        if weight[parents[run]] < least:
            for j in range(runs[run, 1], runs[run, 2]):
                mask[runs[run, 0] * width + j] = 0
        elif parents[run] == run:
            for k in range(5):
                boxes[kept, k] = boxes[run, k]
            kept += 1
    return boxes[:kept]
