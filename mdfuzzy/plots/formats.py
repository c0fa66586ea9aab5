"""The formats of pictures that are written."""

from typing import Literal

#: Dots per inch.
DPI = 160
#: Pixels, or lines that scale without loss.
Format = Literal["png", "pdf", "svg"]
