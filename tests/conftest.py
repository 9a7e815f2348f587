"""Chooses the Hypothesis profile before any test is collected."""

import hypothesis_profiles  # noqa: F401  (importing it registers and loads the profiles)
