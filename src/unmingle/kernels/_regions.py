"""Connected regions of a mask."""

import numpy as np

from ._compile import compiled


@compiled
def _root(parents, run):  # type: ignore[no-untyped-def]
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


@compiled
def _join(parents, one, other):  # type: ignore[no-untyped-def]
    first, second = _root(parents, one), _root(parents, other)
    parents[max(first, second)] = min(first, second)


@compiled
def skip_empty(row, words, j):  # type: ignore[no-untyped-def]
    """The first marked pixel from j on, or the end; eight empty ones are passed at once where there are words."""
    while j < row.size and not row[j]:
        if words.size and j % 8 == 0:
            k = j // 8
            while k < words.size and words[k] == 0:
                k += 1
            if k == words.size:
                return row.size
            j = max(j + 1, 8 * k)
        else:
            j += 1
    return j


@compiled
def _find_runs(mask):  # type: ignore[no-untyped-def]
    """Row, first column and end of every run, joined with those that touch it in the row above, corners included."""
    height, width = mask.shape
    words = mask.view(np.uint64) if width % 8 == 0 else np.empty((height, 0), np.uint64)
    runs, parents = np.empty((256, 3), np.int32), np.empty(256, np.int32)
    count = above = 0
    for i in range(height):
        row, first_of_row = mask[i], count
        j = skip_empty(row, words[i], 0)
        while j < width:
            start = j
            while j < width and row[j]:
                j += 1
            if count == len(runs):
                runs, parents = np.concatenate((runs, runs)), np.concatenate((parents, parents))
            runs[count, 0], runs[count, 1], runs[count, 2] = i, start, j
            parents[count] = count
            while above < first_of_row and (runs[above, 0] < i - 1 or runs[above, 2] < start):
                above += 1
            other = above
            while other < first_of_row and runs[other, 1] <= j:
                _join(parents, count, other)
                other += 1
            count += 1
            j = skip_empty(row, words[i], j)
    return runs[:count], parents[:count]


@compiled
def keep_regions(mask, strong, least):  # type: ignore[no-untyped-def]
    """Erase the regions of a mask that have fewer than ``least`` strong pixels, in place.

    Pixels are connected to their eight neighbours. Regions are joined runs of pixels (union-find), so that the cost is
    a look at every pixel and some work for every run.

    Returns
    -------
    array of shape (k, 5)
        Top, left, bottom, right (the last two exclusive) and area of what stays, from top to bottom.
    """
    runs, parents = _find_runs(mask)
    n_runs = len(runs)
    boxes, weight = np.zeros((n_runs, 5), np.int32), np.zeros(n_runs, np.int32)
    for run in range(n_runs):
        root = _root(parents, run)
        parents[run] = root
        i, start, end = runs[run, 0], runs[run, 1], runs[run, 2]
        if root == run:
            boxes[root, 0], boxes[root, 1] = i, start
        boxes[root, 1] = min(boxes[root, 1], start)
        boxes[root, 2] = i + 1
        boxes[root, 3] = max(boxes[root, 3], end)
        boxes[root, 4] += end - start
        j = start
        while j < end and weight[root] < least:
            weight[root] += strong[i, j]
            j += 1
    kept = 0
    for run in range(n_runs):
        if weight[parents[run]] < least:
            for j in range(runs[run, 1], runs[run, 2]):
                mask[runs[run, 0], j] = 0
        elif parents[run] == run:
            for k in range(5):
                boxes[kept, k] = boxes[run, k]
            kept += 1
    return boxes[:kept].copy()
