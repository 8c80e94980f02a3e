"""``lazycore backends``: what is installed, and whether it works."""

from __future__ import annotations

from collections.abc import Iterable

from lazycore_plugin_api import BackendInfo
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lazycore.plugins.discovery import Candidate, installed
from lazycore.plugins.loading import FailedPlugin, LoadResult, State, load

__all__ = ["list_backends"]

_STYLES = {State.READY: "green", State.BROKEN: "red", State.INCOMPATIBLE: "yellow"}


def list_backends(console: Console, verbose: bool) -> None:
    """Load every installed backend, each on its own, and print a row for it; ``verbose`` adds failures' tracebacks."""
    plugins = [load(candidate) for candidate in installed().values()]
    if not plugins:
        console.print("no backends are installed; `pip install lazycore-reference` brings one")
        return
    console.print(_table(plugins))
    for plugin in plugins:
        if verbose and isinstance(plugin, FailedPlugin):
            console.print(f"\n[bold]{escape(str(plugin.candidate))}[/bold]")
            console.print(plugin.traceback, markup=False, highlight=False, soft_wrap=True)


def _table(plugins: Iterable[LoadResult]) -> Table:
    table = Table("backend", "version", "state", "distribution", "details", box=None, pad_edge=False)
    table.columns[-1].overflow = "fold"
    for plugin in plugins:
        state = f"[{_STYLES[plugin.state]}]{plugin.state.value}[/]"
        table.add_row(
            *map(escape, _names(plugin)), state, escape(plugin.candidate.distribution), escape(_details(plugin))
        )
    return table


def _names(plugin: LoadResult) -> tuple[str, str]:
    candidate: Candidate = plugin.candidate
    return candidate.name, candidate.version if isinstance(plugin, FailedPlugin) else plugin.info.version


def _details(plugin: LoadResult) -> str:
    return plugin.reason if isinstance(plugin, FailedPlugin) else _offer(plugin.info)


def _offer(info: BackendInfo) -> str:
    options = [f"{name}={option.default}" for name, option in info.options.items()]
    first, *others = info.devices
    devices = ", ".join((f"{first} (default)", *others))
    return f"devices: {devices}" + (f"; options: {', '.join(options)}" if options else "")
