"""The mathematics, for those who build on it: problems and certificates, solvers, penalties, encoders, streams.

A solver is a generator of iterates, and `run` draws from it until a criterion, mostly a duality gap, is small enough.
`objective` holds the problems with their certificates, `prox` the penalties of outliers, `penalties` the automatic
choice of their sizes. The page "Write your own penalty, solver or loss" of the documentation shows how it all goes
together.

Names are imported when first used.
"""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from . import iterate as iterate
    from . import objective as objective
    from . import penalties as penalties
    from . import prox as prox
    from .cells.refit import refit_cells as refit_cells
    from .decomposition.decompose_matrix import decompose as decompose
    from .decomposition.decompose_matrix import pursue as pursue
    from .decomposition.result import Decomposition as Decomposition
    from .encoder.answers import exact_answer as exact_answer
    from .encoder.encoder import Encoder as Encoder
    from .encoder.layers import Layers as Layers
    from .encoder.layers import propagate as propagate
    from .encoder.sequence import SequenceEncoder as SequenceEncoder
    from .iterate import Callback as Callback
    from .iterate import Progress as Progress
    from .iterate import Result as Result
    from .iterate import run as run
    from .linalg.low_rank import LowRank as LowRank
    from .linalg.norms import spectral_norm_bound as spectral_norm_bound
    from .linalg.thresholding import WarmSubspace as WarmSubspace
    from .linalg.thresholding import gram_threshold as gram_threshold
    from .linalg.units import Units as Units
    from .objective import Certificate as Certificate
    from .online.statistics import Statistics as Statistics
    from .online.statistics import balance as balance
    from .online.statistics import block_coordinate_step as block_coordinate_step
    from .online.statistics import direct_step as direct_step
    from .online.statistics import recursive_step as recursive_step
    from .prox import ColumnGroups as ColumnGroups
    from .prox import EntryPenalty as EntryPenalty
    from .prox import OutlierPenalty as OutlierPenalty
    from .solvers.criteria import CertificateSchedule as CertificateSchedule
    from .solvers.criteria import GapCriterion as GapCriterion
    from .solvers.criteria import PursuitCriterion as PursuitCriterion
    from .solvers.criteria import StationarityCriterion as StationarityCriterion
    from .solvers.nmf import Factors as Factors
    from .solvers.nmf import nmf_iterates as nmf_iterates
    from .solvers.nonnegative import nonnegative_newton as nonnegative_newton
    from .solvers.pcp import Pursuit as Pursuit
    from .solvers.pcp import pursuit_iterates as pursuit_iterates
    from .solvers.penalised import penalised_iterates as penalised_iterates
    from .solvers.projection import Projection as Projection
    from .solvers.projection import algorithm_1 as algorithm_1
    from .solvers.projection import newton as newton
    from .solvers.proximal import Sweep as Sweep
    from .solvers.proximal import alternating_iterates as alternating_iterates
    from .solvers.proximal import proximal_iterates as proximal_iterates
    from .solvers.splitting import Split as Split
    from .solvers.splitting import splitting_iterates as splitting_iterates

_HOMES = {
    "Callback": "iterate",
    "Certificate": "objective",
    "CertificateSchedule": "solvers.criteria",
    "ColumnGroups": "prox",
    "Decomposition": "decomposition.result",
    "Encoder": "encoder.encoder",
    "EntryPenalty": "prox",
    "Factors": "solvers.nmf",
    "GapCriterion": "solvers.criteria",
    "Layers": "encoder.layers",
    "LowRank": "linalg.low_rank",
    "OutlierPenalty": "prox",
    "Progress": "iterate",
    "Projection": "solvers.projection",
    "Pursuit": "solvers.pcp",
    "PursuitCriterion": "solvers.criteria",
    "Result": "iterate",
    "SequenceEncoder": "encoder.sequence",
    "Split": "solvers.splitting",
    "StationarityCriterion": "solvers.criteria",
    "Statistics": "online.statistics",
    "Sweep": "solvers.proximal",
    "Units": "linalg.units",
    "WarmSubspace": "linalg.thresholding",
    "algorithm_1": "solvers.projection",
    "alternating_iterates": "solvers.proximal",
    "balance": "online.statistics",
    "block_coordinate_step": "online.statistics",
    "decompose": "decomposition.decompose_matrix",
    "direct_step": "online.statistics",
    "exact_answer": "encoder.answers",
    "gram_threshold": "linalg.thresholding",
    "iterate": "",
    "newton": "solvers.projection",
    "nmf_iterates": "solvers.nmf",
    "nonnegative_newton": "solvers.nonnegative",
    "objective": "",
    "penalised_iterates": "solvers.penalised",
    "penalties": "",
    "propagate": "encoder.layers",
    "prox": "",
    "proximal_iterates": "solvers.proximal",
    "pursue": "decomposition.decompose_matrix",
    "pursuit_iterates": "solvers.pcp",
    "recursive_step": "online.statistics",
    "refit_cells": "cells.refit",
    "run": "iterate",
    "spectral_norm_bound": "linalg.norms",
    "splitting_iterates": "solvers.splitting",
}

__all__ = [
    "Callback",
    "Certificate",
    "CertificateSchedule",
    "ColumnGroups",
    "Decomposition",
    "Encoder",
    "EntryPenalty",
    "Factors",
    "GapCriterion",
    "Layers",
    "LowRank",
    "OutlierPenalty",
    "Progress",
    "Projection",
    "Pursuit",
    "PursuitCriterion",
    "Result",
    "SequenceEncoder",
    "Split",
    "StationarityCriterion",
    "Statistics",
    "Sweep",
    "Units",
    "WarmSubspace",
    "algorithm_1",
    "alternating_iterates",
    "balance",
    "block_coordinate_step",
    "decompose",
    "direct_step",
    "exact_answer",
    "gram_threshold",
    "iterate",
    "newton",
    "nmf_iterates",
    "nonnegative_newton",
    "objective",
    "penalised_iterates",
    "penalties",
    "propagate",
    "prox",
    "proximal_iterates",
    "pursue",
    "pursuit_iterates",
    "recursive_step",
    "refit_cells",
    "run",
    "spectral_norm_bound",
    "splitting_iterates",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
