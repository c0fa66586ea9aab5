"""The report: one HTML page with everything that a clustering found, to look at and to send on."""

from mdfuzzy.report.notebook import notebook_html
from mdfuzzy.report.page import write_report

__all__ = ["notebook_html", "write_report"]
