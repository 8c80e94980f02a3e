"""A vendor's plugin, written and installed on the spot, for tests of the contract as a vendor meets it."""
