"""Data-parallel training on one machine: one process per core, gradients averaged once per step.

On a busy machine this wastes far less than threads that wait for each other in every operation.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence

import torch
from torch import distributed
from torch.multiprocessing.spawn import spawn


def run(work: Callable[..., None], workers: int, *args: object) -> None:
    """Call `work(rank, *args)` in `workers` processes of one thread each; in this process if it is one."""
    if workers == 1:
        work(0, *args)
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawn(_joined, (work, workers, port, args), nprocs=workers)  # type: ignore[no-untyped-call]


def _joined(rank: int, work: Callable[..., None], workers: int, port: int, args: Sequence[object]) -> None:
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    distributed.init_process_group("gloo", rank=rank, world_size=workers)
    work(rank, *args)
    distributed.destroy_process_group()


def average(parameters: Sequence[torch.nn.Parameter], finished: bool) -> bool:
    """Average the gradients over all processes; True if any of them has finished."""
    if not distributed.is_initialized():
        return finished
    flags = torch.tensor([float(finished)])
    grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    flat = torch.cat([flags, *(g.flatten() for g in grads)])
    distributed.all_reduce(flat)
    flat[1:] /= distributed.get_world_size()
    at = 1
    for parameter, grad in zip(parameters, grads, strict=True):
        parameter.grad = flat[at : at + grad.numel()].view_as(grad)
        at += grad.numel()
    return bool(flat[0] > 0)


def size() -> int:
    """How many processes train together."""
    return distributed.get_world_size() if distributed.is_initialized() else 1
