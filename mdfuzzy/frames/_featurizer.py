"""The interface of the method that computes features, which `features.Featurizer` implements."""

from typing import Any, Protocol


class FeaturizerLike(Protocol):
    """The method that computes features, as `Features` keep it."""

    components: tuple[Any, ...]

    def completed(self, data: Any) -> Any:
        """Return features with the components that have not been applied yet."""
        ...

    def then(self, components: Any) -> "FeaturizerLike":
        """Return a featuriser that also computes these components."""
        ...

    def spec(self) -> dict[str, Any]:
        """Return a description that JSON can hold and that restores the featuriser."""
        ...
