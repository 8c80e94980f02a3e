"""Random graphs over the opset: many nodes in one segment, as programs have them and single ops do not."""
