"""What is known of a stored artifact, as plain data for JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lazycore_plugin_api.backend import ArtifactMeta, Target

__all__ = ["meta_from_record", "meta_to_record"]


def meta_to_record(meta: ArtifactMeta) -> dict[str, Any]:
    """The meta data as a dict of strings, numbers, lists and dicts."""
    target = {**asdict(meta.target), "options": dict(meta.target.options)}
    return {**asdict(meta), "api_version": list(meta.api_version), "target": target}


def meta_from_record(record: Mapping[str, Any]) -> ArtifactMeta:
    """What ``meta_to_record`` was given. Raises KeyError, TypeError or ValueError for another record."""
    major, minor = record["api_version"]
    fields = {**record, "api_version": (int(major), int(minor)), "target": Target(**record["target"])}
    meta = ArtifactMeta(**fields)
    texts = (meta.backend, meta.backend_version, meta.graph_key, meta.fingerprint, meta.target.backend)
    if not all(isinstance(text, str) for text in texts) or not isinstance(meta.target.options, Mapping):
        raise TypeError(f"no meta data of an artifact: {record!r:.200}")
    return meta
