"""What the programs share: how one is run, judged and counted."""
