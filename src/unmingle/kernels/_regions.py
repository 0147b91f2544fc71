"""Connected regions of a mask."""

import numpy as np

from ._compile import merged, piece


@piece
def _root(parents, run):
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


@piece
def _skip_empty(mask, words, i, j):
    """The first marked pixel of row i from j on, or the end; where there are words, eight empty ones go at once."""
    width, n_words = mask.shape[1], words.shape[1]
    while j < width and not mask[i, j]:
        if n_words and j % 8 == 0:
            k = j // 8
            while k < n_words and words[i, k] == 0:
                k += 1
            if k == n_words:
                return width
            j = max(j + 1, 8 * k)
        else:
            j += 1
    return j


@piece
def _find_runs(mask, words, runs, parents):
    """Row, first column and end of every run, joined with those that touch it in the row above, corners included."""
    height, width = mask.shape
    count = above = 0
    for i in range(height):
        first_of_row, j = count, 0
        while True:
            start = j = _skip_empty(mask, words, i, j)
            if start == width:
                break
            while j < width and mask[i, j]:
                j += 1
            runs[count, 0], runs[count, 1], runs[count, 2] = i, start, j
            parents[count] = count
            while above < first_of_row and (runs[above, 0] < i - 1 or runs[above, 2] < start):
                above += 1
            other = above
            while other < first_of_row and runs[other, 1] <= j:
                first, second = _root(parents, count), _root(parents, other)
                parents[max(first, second)] = min(first, second)
                other += 1
            count += 1
    return count


@piece
def _measure_regions(runs, parents, count, strong, least, boxes, weight):
    """Boxes and areas of the regions, at their roots, with the number of strong pixels as far as it matters."""
    for run in range(count):
        root = _root(parents, run)
        parents[run] = root
        i, start, end = runs[run, 0], runs[run, 1], runs[run, 2]
        if root == run:
            boxes[root, 0], boxes[root, 1], boxes[root, 3], boxes[root, 4], weight[root] = i, start, end, 0, 0
        boxes[root, 1] = min(boxes[root, 1], start)
        boxes[root, 2] = i + 1
        boxes[root, 3] = max(boxes[root, 3], end)
        boxes[root, 4] += end - start
        j = start
        while j < end and weight[root] < least:
            weight[root] += strong[i, j]
            j += 1


@merged
def keep_regions(mask, words, strong, least):
    """Erase the regions of a mask that have fewer than ``least`` strong pixels, in place.

    Pixels are connected to their eight neighbours. Regions are joined runs of pixels (union-find), so that the cost is
    a look at every pixel and some work for every run. ``words`` are the rows of the mask in words of eight pixels, or
    none where those do not fit.

    Returns
    -------
    array of shape (k, 5)
        Top, left, bottom, right (the last two exclusive) and area of what stays, from top to bottom.
    """
    most = mask.shape[0] * ((mask.shape[1] + 1) // 2)
    runs, parents = np.empty((most, 3), np.int32), np.empty(most, np.int32)
    count = _find_runs(mask, words, runs, parents)
    boxes, weight = np.empty((count, 5), np.int32), np.empty(count, np.int32)
    _measure_regions(runs, parents, count, strong, least, boxes, weight)
    kept = 0
    for run in range(count):
        if weight[parents[run]] < least:
            for j in range(runs[run, 1], runs[run, 2]):
                mask[runs[run, 0], j] = 0
        elif parents[run] == run:
            for k in range(5):
                boxes[kept, k] = boxes[run, k]
            kept += 1
    return boxes[:kept]
