"""Adapts Trainer to runs of several processes."""

from __future__ import annotations

from typing import Any

from torch.utils.data import DataLoader
from transformers import Trainer

from .group import ALONE, Ranks
from .share import SharedRows


class OverRanks(Trainer):
    """Trains and evaluates with the other processes of its run, if there are any."""

    ranks: Ranks = ALONE
    # Whether the last row of each dataset is blank, so that processes share the held-out rows.
    has_blank = False
    # The sampler of the training rows, whose `set_epoch` starts an epoch.
    _train_rows: Any = None

    def train(self, resume_from_checkpoint: str | None = None, *_: Any, **__: Any) -> Any:
        self.ranks.call_followers("train", resume_from_checkpoint)
        if self.ranks.count > 1:
            # Otherwise Accelerate treats a model that was evaluated before as already prepared for
            # shared gradients.
            model: Any = self.model
            model._is_accelerate_prepared = False
        return super().train(resume_from_checkpoint)

    def evaluate(self, *args: Any, **options: Any) -> dict[str, float]:
        if not self.is_in_train:
            self.ranks.call_followers("evaluate")
        return super().evaluate(*args, **options)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        if self.ranks.count == 1:
            return super()._get_train_sampler(train_dataset)
        self._train_rows = self._shared(
            self.train_dataset, self.args.train_batch_size, self.args.data_seed
        )
        return self._train_rows

    def _run_epoch(self, *args: Any, epoch: int, **options: Any) -> Any:
        if self._train_rows is not None:
            # Accelerate's call does not reach it in an epoch whose first batches are skipped.
            self._train_rows.set_epoch(epoch)
        return super()._run_epoch(*args, epoch=epoch, **options)

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        if self.ranks.count == 1 or self.has_blank:
            return super().get_eval_dataloader(eval_dataset)
        # Without a blank row, sharing would count some rows twice: each process reads all of them.
        rows: Any = self.eval_dataset
        return DataLoader(rows, self.args.eval_batch_size, collate_fn=self.data_collator)

    def _get_eval_sampler(self, eval_dataset: Any) -> Any:
        if self.ranks.count == 1:
            return super()._get_eval_sampler(eval_dataset)
        return self._shared(eval_dataset, self.args.eval_batch_size, None)

    def _shared(self, dataset: Any, batch: int, seed: int | None) -> SharedRows:
        rows = len(dataset) - self.has_blank
        blank = rows if self.has_blank else None
        return SharedRows(rows, batch * self.ranks.count, seed, blank)

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        # Each process writes its random state, so the checkpoint is complete after the last.
        self.ranks.barrier()
