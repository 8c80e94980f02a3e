"""``torch.autocast("lazycore")``: which ops run in the lower precision, which in float32, and gradient scaling."""
