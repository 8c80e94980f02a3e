"""Train a character language model on lazycore and, batch for batch, on CPU eager: ``python examples/demo.py``.

Both start from the same weights and see the same text, so that their losses can be read side by side.
"""

from __future__ import annotations

import argparse
import time
import warnings

import torch
from char_lm.corpus import Corpus
from char_lm.training import Trainer, sample
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

import lazycore

console = Console()


def progress() -> Progress:
    """A bar that shows both losses."""
    losses = TextColumn("loss: lazycore [bold]{task.fields[lazy]:.4f}[/]  CPU eager [bold]{task.fields[eager]:.4f}[/]")
    return Progress(BarColumn(), MofNCompleteColumn(), losses, TimeElapsedColumn(), console=console)


def train(lazy: Trainer, eager: Trainer, steps: int, block: int, seconds: float) -> None:
    """Alternate blocks of steps between the two devices until both have made ``steps`` or time is up."""
    end = time.perf_counter() + seconds
    with progress() as bar:
        task = bar.add_task("training", total=steps, lazy=float("nan"), eager=float("nan"))
        for _ in range(steps // block):
            for trainer in (lazy, eager):
                trainer.run(block)
            bar.update(task, advance=block, lazy=lazy.losses[-1], eager=eager.losses[-1])
            if time.perf_counter() > end:
                break


def loss_table(lazy: Trainer, eager: Trainer, block: int, rows: int = 8) -> Table:
    """The losses of both devices at some steps, with their difference."""
    table = Table("step", "lazycore", "CPU eager", "difference", title="Loss of the last batch")
    count = len(lazy.losses)
    for i in sorted({round(k * (count - 1) / max(rows - 1, 1)) for k in range(rows)}):
        one, other = lazy.losses[i], eager.losses[i]
        table.add_row(str((i + 1) * block), f"{one:.6f}", f"{other:.6f}", f"{one - other:+.1e}")
    return table


def speed_table(lazy: Trainer, eager: Trainer, block: int) -> Table:
    """Characters per second of both devices, and what compiling cost."""
    table = Table("", "lazycore", "CPU eager", title="Speed")
    one, other = lazy.speed(block), eager.speed(block)
    table.add_row("characters per second", f"{one:,.0f}  ({one / other:.2f}x)", f"{other:,.0f}")
    table.add_row("seconds of the first block", f"{lazy.seconds[0]:.2f}", f"{eager.seconds[0]:.2f}")
    table.add_row("seconds in all", f"{sum(lazy.seconds):.1f}", f"{sum(eager.seconds):.1f}")
    return table


def continuation(trainer: Trainer, length: int) -> Panel:
    """A piece of the corpus and how the trained model continues it."""
    start = trainer.corpus.excerpt("These ", trainer.model.context)
    written = sample(trainer.model.eval(), start, length, trainer.device)
    text = Text.assemble((trainer.corpus.decode(start), "dim"), (trainer.corpus.decode(written), "bold"))
    return Panel(text, title="Text written by the model trained on lazycore (the start is given)")


def counters() -> Table:
    """What the device counted."""
    table = Table("counter", "value", title="lazycore.metrics()")
    for name, value in lazycore.metrics().items():
        table.add_row(name, f"{value:.2f}" if isinstance(value, float) else str(value))
    return table


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--block", type=int, default=20, help="steps between two looks at the loss")
    parser.add_argument("--seconds", type=float, default=90.0, help="stop training after so long, on a slow machine")
    parser.add_argument("--sample", type=int, default=240, help="characters to write at the end")
    parser.add_argument("--backend", default=None, help="as in lazycore.use_backend; default: what is installed")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.backend:
        lazycore.use_backend(options.backend)
    corpus = Corpus()
    lazy, eager = Trainer(corpus, "lazycore"), Trainer(corpus, "cpu")
    size = sum(p.numel() for p in eager.model.parameters())
    console.print(f"{len(corpus.ids):,} characters of text, a transformer of {size:,} parameters, "
                  f"{options.steps} steps on each device, {torch.get_num_threads()} threads")  # fmt: skip
    train(lazy, eager, options.steps, options.block, options.seconds)
    console.print(loss_table(lazy, eager, options.block), speed_table(lazy, eager, options.block))
    console.print(continuation(lazy, options.sample), counters())


if __name__ == "__main__":
    warnings.filterwarnings("default", module="lazycore")
    main()
