"""What an adapter draws at a checkpoint: just what a model server draws with it later."""

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
    """The sample prompts of a run, drawn by the pipeline that serves, which reads the adapter out
    of the file that it is saved as. Two other ways to the same picture would differ one day."""

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
        """Draws them with the adapter as it is now, as PNG files that are named by their number.

        Raises PlainError for values that are not numbers.
        """
        shutil.rmtree(self._adapter.parent, ignore_errors=True)
        save_adapter(self._model.family, self._model.transformer, self._adapter.parent)
        pipeline = self._pipeline = self._pipeline or self._opened()
        self._drawn += 1
        lora = ChosenLora(str(self._drawn), self._adapter, 1.0)
        folder.mkdir(parents=True, exist_ok=True)
        # The file is the adapter: what is trained stands aside meanwhile.
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
            # The autoencoder and the adapter leave the memory to the training.
            pipeline.offload()

    def _opened(self) -> KontextPipeline:
        """The model itself; beside it one in the precision that is served where that differs."""
        transformer = self._model.transformer
        dtype = serving_dtype(transformer.device.type)  # pyright: ignore[reportArgumentType]
        if dtype == transformer.dtype:
            return KontextPipeline(self._model)
        return KontextPipeline.from_folder(self._base, transformer.device, dtype)
