"""What can be wrong with files of media, each with the reason in one sentence."""


class MediaError(ValueError):
    """Media that cannot be read or written, with the reason in one sentence."""


class SizesDifferError(MediaError):
    """Images that are to become one array but are of several sizes."""


class IncompleteError(MediaError):
    """A video or a sound that is cut off or damaged; all that could be read was given before.

    Attributes
    ----------
    n_frames : int
        How many frames could be read; of a sound, samples of each channel.
    """

    def __init__(self, sentence: str, n_frames: int) -> None:
        super().__init__(sentence)
        self.n_frames = n_frames


def cause(error: BaseException) -> str:
    """The cause of an error in a few words that can follow a colon."""
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if words == "Immediate exit requested":  # what FFmpeg calls it
        return "nothing came in time"
    words = words.strip().rstrip(".")
    return words[:1].lower() + words[1:]
