"""Random ops: on the device's own stream (``config.rng = "philox"``), or on CPU's (``"cpu"``)."""
