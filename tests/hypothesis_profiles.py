"""The Hypothesis profiles of this repository, registered once for tests/ and proofs/.

Each profile names its parent, because under CI=true Hypothesis makes a derandomised profile without a database the
current one, and whatever is registered without a parent inherits from that. The conftest of each folder imports this
module before Hypothesis reads its command line, so that `--hypothesis-profile` has the last word. No test has settings
of its own: they would override the profile that was asked for.

    dev        30 examples, random, with a database: while writing code
    ci         80 examples, the same ones every time
    thorough   2,000 examples, random, with a database, also under CI=true
    mutation   40 examples, the same ones every time, none made smaller: thousands of failures, none of them read
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

_DEFAULT = settings.get_profile("default")
_SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "dev", parent=_DEFAULT, max_examples=30, derandomize=False, deadline=None, suppress_health_check=_SLOW_IS_FINE
)
settings.register_profile(
    "ci",
    parent=_DEFAULT,
    max_examples=80,
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=_SLOW_IS_FINE,
)
settings.register_profile(
    "thorough",
    parent=_DEFAULT,
    max_examples=2_000,
    derandomize=False,
    deadline=None,
    print_blob=True,
    suppress_health_check=_SLOW_IS_FINE,
)
settings.register_profile(
    "mutation",
    parent=_DEFAULT,
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=_SLOW_IS_FINE,
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def most_examples(profile: str | None = None) -> int:
    """How many examples a property may have: in a profile, or in the one that was chosen."""
    return (settings.get_profile(profile) if profile else settings()).max_examples
