"""The methods by name."""

from ..._validation import check_choice, check_positive
from ._adapt import Adaptive
from ._encoder import Encoded
from ._exact import ExactProximal, ExactPursuit
from ._factors import RepeatedSpectra
from ._learned import SHIPPED, VoiceModel, shipped
from ._method import Method

METHODS: dict[str, type[Method]] = {
    kind.name: kind for kind in (ExactPursuit, ExactProximal, RepeatedSpectra, Adaptive, Encoded, VoiceModel)
}
"""A new method is one small file and a place in this table."""
NAMES = (*SHIPPED, *(name for name, kind in METHODS.items() if kind not in (Encoded, VoiceModel)))
"""Methods that need nothing but their name, the default first: networks that come with unmingle, and all others."""


def as_method(method: str | Method) -> Method:
    """The method of a name, or the one that was given."""
    if isinstance(method, Method):
        return method
    return shipped(method) if check_choice(method, "method", NAMES) in SHIPPED else METHODS[method]()


def high_pass_of(method: Method, high_pass: float | str | None) -> float | None:
    """Hertz below which there is no voice, None for no limit."""
    if high_pass == "auto":
        return method.high_pass
    return None if high_pass is None else check_positive(high_pass, "high_pass", zero=True)
