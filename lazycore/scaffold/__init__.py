"""``lazycore new-backend``: a vendor's package to begin with, which installs and passes its own tests at once."""
