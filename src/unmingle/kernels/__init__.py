"""Compiled loops: the passes over the data that the solvers consist of.

Every kernel walks over blocks of rows that stay in the cache: the low-rank part of a block comes from BLAS, the
elementwise work and the sums are fused into one loop, and the product with a basis follows while the block is warm.
A missing entry is NaN in ``X``: its residual is 0, so it pulls at nothing and the cleaned matrix holds its imputation.
Sums may be reordered (they are vectorised), nothing else is relaxed. All kernels release the GIL, write only to their
named outputs, and are compiled on first use and cached on disk.
"""

from ._alignment import align_image, warp_image
from ._encoder import encode_layers
from ._factors import nonnegative_descent, nonnegative_sweep
from ._following import follow_frame, nearest_shift, telling_pixels
from ._gradients import clip_layer, clip_slopes, misfit_cost, misfit_slopes
from ._matrix import clipped_norm, huber_sums, huber_sweep, multiplier_sums, multiplier_sweep, splitting_sweep
from ._newton import newton_projection
from ._nonnegative import nonnegative_projection
from ._resampling import read_at_speed
from ._robust import column_medians
from ._samples import alternation_pass
from ._sequence import carry_codes
from ._stream import cleaning_pass
from ._video_detection import Scenery, Workspace, detect_in_frame, frame_codes, zeros_for
from ._video_learning import KNOWN, LearningState, learn_from_frame
from ._video_light import compare_textures
from ._video_planes import planes_from_rgb, rgb_from_planes
from ._video_steady import lay_mask_back, lay_over
from ._warp import BORDER, halve_image, pad_image, smooth_image, spline_coefficients

__all__ = [
    "BORDER",
    "KNOWN",
    "LearningState",
    "Scenery",
    "Workspace",
    "align_image",
    "alternation_pass",
    "carry_codes",
    "cleaning_pass",
    "clip_layer",
    "clip_slopes",
    "clipped_norm",
    "column_medians",
    "compare_textures",
    "detect_in_frame",
    "encode_layers",
    "follow_frame",
    "frame_codes",
    "halve_image",
    "huber_sums",
    "huber_sweep",
    "lay_mask_back",
    "lay_over",
    "learn_from_frame",
    "misfit_cost",
    "misfit_slopes",
    "multiplier_sums",
    "multiplier_sweep",
    "nearest_shift",
    "newton_projection",
    "nonnegative_descent",
    "nonnegative_projection",
    "nonnegative_sweep",
    "pad_image",
    "planes_from_rgb",
    "read_at_speed",
    "rgb_from_planes",
    "smooth_image",
    "spline_coefficients",
    "splitting_sweep",
    "telling_pixels",
    "warp_image",
    "zeros_for",
]
