"""Images that are not aligned: transformations, and robust low-rank models found together with them.

Matrices map pixels (x, y, 1) of the aligned frame into the given image.
"""
