"""The one exception of the package."""


class ResultsError(Exception):
    """A file is not there, damaged, or not what was expected. The text names the file."""
