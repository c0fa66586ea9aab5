"""All steps in one call: settings, the run, its result, and analyses of the result."""
