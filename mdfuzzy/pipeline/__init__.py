"""All steps in one call: settings, the run, its result, and what is computed from it."""
