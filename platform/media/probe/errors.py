"""The errors of inspecting media."""


class UnusableMedia(Exception):
    """A file is not what it has to be. `reason` is a sentence."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class UnusablePicture(UnusableMedia):
    """The picture with this `index` among several."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index = index
