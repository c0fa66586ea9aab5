"""Use with MDAnalysis: the clustering as an analysis class.

Names are imported on first use, because `MDAnalysis` need not be installed.
"""

__all__ = ["FuzzyModeSeekingAnalysis"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'mdfuzzy.mdanalysis' has no attribute {name!r}")
    try:
        import MDAnalysis  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"`mdfuzzy.mdanalysis.{name}` needs the package `MDAnalysis`: pip install 'mdfuzzy[mdanalysis]'."
        ) from error
    from mdfuzzy.mdanalysis import analysis

    globals()[name] = getattr(analysis, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
