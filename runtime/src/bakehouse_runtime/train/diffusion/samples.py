"""Generates the samples of a checkpoint exactly as a model server does later."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ...device import serving_dtype
from ...image.flux.pipeline import KontextPipeline, KontextRequest
from ...image.lora import ChosenLora
from ...image.picture_file import encoded
from .adapter import save_adapter
from .reporter import SAMPLED_ADAPTER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ...image.flux.load import FluxModel
    from ...protocol import SamplePrompt


class AdapterSamples:
    """Generates a run's sample prompts with the serving pipeline, which loads the adapter from its
    saved file. A second implementation of sampling could give other pictures."""

    def __init__(
        self, model: FluxModel, base: Path, prompts: Sequence[SamplePrompt], work_dir: Path
    ) -> None:
        self._model = model
        self._base = base
        self._prompts = prompts
        self._adapter = work_dir / SAMPLED_ADAPTER
        self._pipeline: KontextPipeline | None = None
        self._drawn = 0

    def write(self, folder: Path) -> None:
        """Generates the samples with the current adapter, as numbered PNG files.

        Raises PlainError for values that are not finite.
        """
        shutil.rmtree(self._adapter.parent, ignore_errors=True)
        save_adapter(self._model.family, self._model.transformer, self._adapter.parent)
        pipeline = self._pipeline = self._pipeline or self._opened()
        self._drawn += 1
        lora = ChosenLora(str(self._drawn), self._adapter, 1.0)
        folder.mkdir(parents=True, exist_ok=True)
        # The adapter is applied from its file, so disable the one in training.
        self._model.transformer.disable_adapters()
        try:
            for number, wanted in enumerate(self._prompts, start=1):
                request = KontextRequest(wanted.prompt, wanted.seed, lora=lora)
                [picture] = pipeline.generate([request])
                metadata = {"prompt": wanted.prompt, "seed": str(wanted.seed)}
                content = encoded(picture.media, "png", metadata)
                (folder / f"{number}.png").write_bytes(content)
        finally:
            self._model.transformer.enable_adapters()
            # Frees the memory of autoencoder and adapter for the training.
            pipeline.offload()

    def _opened(self) -> KontextPipeline:
        """Returns a pipeline of the model itself, or of a second copy if serving uses another
        dtype."""
        transformer = self._model.transformer
        dtype = serving_dtype(transformer.device.type)  # pyright: ignore[reportArgumentType]
        if dtype == transformer.dtype:
            return KontextPipeline(self._model)
        return KontextPipeline.from_folder(self._base, transformer.device, dtype)
