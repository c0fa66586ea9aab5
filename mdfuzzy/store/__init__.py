"""The run directory: saved steps, from which a run resumes."""
