"""The conformance suite: a vendor proves a backend with it, and a backend cannot pass it without computing.

``lazycore conformance --backend NAME`` or ``pytest --pyargs lazycore.conformance --lazycore-backend NAME``.
``docs/conformance.md`` says what each level means. Nothing here is imported by the rest of lazycore.
"""
