"""What a user is told: counters and placement."""
