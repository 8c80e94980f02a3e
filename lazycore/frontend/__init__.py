"""The torch device: everything that knows torch. It implements the protocols of trace and compiler."""
