"""The report: one self-contained HTML page with all results of a clustering."""

from mdfuzzy.report.notebook import notebook_html
from mdfuzzy.report.page import write_report

__all__ = ["notebook_html", "write_report"]
