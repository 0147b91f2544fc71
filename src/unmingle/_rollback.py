"""State that is as it was if a step fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def unchanged_on_error(*objects: Any) -> Iterator[None]:
    """Give objects back the attributes that they had, if what is done with them fails or is interrupted.

    What their attributes hold must have been replaced, not written to.
    """
    before = [dict(vars(one)) for one in objects]
    try:
        yield
    except BaseException:
        for one, attributes in zip(objects, before, strict=True):
            vars(one).clear()
            vars(one).update(attributes)
        raise
