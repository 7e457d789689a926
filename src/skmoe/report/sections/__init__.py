"""The sections of the report: each is a function of `ReportData` that returns blocks; one that is None is left out."""
