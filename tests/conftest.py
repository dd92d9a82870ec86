"""Settings shared by all tests."""

from hypothesis import settings

settings.register_profile("regioncount", deadline=None)  # the first call of a compiled function takes seconds
settings.load_profile("regioncount")
