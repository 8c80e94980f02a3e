"""Running plans: values on their backends, transfers between them, and the executor."""
