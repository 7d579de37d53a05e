"""`validate-pictures`: reports before a run which pictures of a dataset training would use, and its
requirements, without torch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .confined import run_confined
from .errors import PlainError
from .files import read_object
from .image.sentence_encoder import FULL_SIZE_WINDOW, SENTENCE_WINDOW, sentence_encoder_folder
from .image.training.captioned import Captions, read_picture_set
from .image.training.sizes import RATIOS_FROM_SIDE, nearest_size, training_sizes
from .low_priority import lower_priority_after
from .protocol import PicturesReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .image.training.captioned import PictureSet
    from .protocol import ValidatePicturesSpec

# From fewer pictures the model cannot learn a common style.
PICTURES_MIN = 3
_NOTES_MAX = 100
_SAMPLES_MAX = 12
# A user waits for the answer; longer reading continues at low priority.
_FIRST_S = 5.0
# Weights are stored in 16 bits. From this size on, activations are recomputed instead of stored.
_STORED_BYTES = 2
_CHECKPOINTED_PARAMETERS = 1_000_000_000
# Copies per weight: adapter, gradient, the optimizer's two moments, the exported EMA, and its copy.
_TRAINED_BYTES = 6 * 4
_LIBRARIES_BYTES = {"cpu": 1_300_000_000, "gpu": 1_500_000_000}
# Tokens are 2 x 2 latents.
_LATENTS_A_TOKEN_SIDE = 2


def validate_pictures(spec: ValidatePicturesSpec) -> PicturesReport:
    """Reads every file, in a process with limits of its own. Whatever makes the run impossible
    becomes a critical error of the report, never an exception."""
    try:
        return run_confined("the pictures", _read_at_low_priority, spec)
    except PlainError as error:
        return _report(critical_errors=[str(error)])


def _read_at_low_priority(spec: ValidatePicturesSpec) -> PicturesReport:
    # The kernel lowers the priority of a whole session: do not lower the session of the server or
    # the calling shell.
    os.setsid()
    lower_priority_after(_FIRST_S)
    return read_pictures(spec)


def read_pictures(spec: ValidatePicturesSpec) -> PicturesReport:
    """Returns how training would read the dataset. Raises PlainError if training could not
    start."""
    base = _Base(Path(spec.base_model_dir))
    resolution = spec.parameters.resolution
    if base.side < RATIOS_FROM_SIDE and resolution not in (None, base.side):
        raise PlainError(
            f"This base model can only be trained at {base.side} x {base.side} pixels."
        )
    captions = Captions(spec.data.trigger_word, base.window, base.length)
    found = read_picture_set(
        Path(spec.dataset_dir), spec.data.metadata_path, captions, resolution or base.side
    )
    return _of_set(spec, base, found)


class _Base:
    """The configuration of a Flux folder: how it reads pictures and texts."""

    def __init__(self, folder: Path) -> None:
        index = read_object(folder / "model_index.json")
        self.transformer = read_object(folder / "transformer" / "config.json")
        autoencoder = read_object(folder / "vae" / "config.json")
        try:
            self.side = int(autoencoder["sample_size"])
            self.pixels_a_token = _LATENTS_A_TOKEN_SIDE * 2 ** (
                len(autoencoder["block_out_channels"]) - 1
            )
            heads, width = (
                int(self.transformer[name])
                for name in ("num_attention_heads", "attention_head_dim")
            )
            self.hidden = heads * width
            self.double_blocks = int(self.transformer["num_layers"])
            self.single_blocks = int(self.transformer["num_single_layers"])
        except (KeyError, TypeError, ValueError) as error:
            raise PlainError(
                f"The base model's configuration does not say {error.args[0]}."
            ) from error
        has_own_text = index.get("text_encoder_2") not in (None, [None, None])
        self.window = FULL_SIZE_WINDOW if has_own_text else SENTENCE_WINDOW
        tokenizers = folder / "tokenizer_2" if has_own_text else sentence_encoder_folder()
        self.length = _length_by(tokenizers / "tokenizer.json")

    def trainable(self, rank: int) -> int:
        """Returns the size of an adapter on attention and feed-forward layers: rank x (in + out)
        each."""
        attention = 2 * self.hidden
        feed_forward = 5 * self.hidden
        double = 8 * attention + 4 * feed_forward
        single = 3 * attention + feed_forward
        return rank * (self.double_blocks * double + self.single_blocks * single)


def _length_by(file: Path) -> Callable[[str], int]:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(file))
    # The library raises Exception itself.
    except Exception as error:
        where = f"{file.parent.name}/{file.name}"
        raise PlainError(f"The base model's {where} cannot be read.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text).ids)


def _of_set(spec: ValidatePicturesSpec, base: _Base, found: PictureSet) -> PicturesReport:
    parameters = spec.parameters
    sizes = training_sizes(base.side, parameters.resolution)
    counts: dict[tuple[int, int], int] = {}
    for picture in found.kept:
        size = nearest_size(picture.width, picture.height, sizes)
        counts[size] = counts.get(size, 0) + 1
    has_sources = any(picture.source for picture in found.kept)
    pixels = max((width * height for width, height in counts), default=base.side**2)
    image_tokens = pixels // base.pixels_a_token**2
    tokens = base.window + image_tokens * (2 if has_sources else 1)
    trainable = base.trainable(spec.lora_rank)
    files = len({picture.source or picture.path for picture in found.kept})
    names = [(picture, _name(spec, picture.path)) for picture in found.kept[:_SAMPLES_MAX]]
    return _report(
        pictures_total=found.total,
        pictures_kept=len(found.kept),
        left_out=[vars(note) for note in found.left_out[:_NOTES_MAX]],
        left_out_total=len(found.left_out),
        notes=[vars(note) for note in found.notes[:_NOTES_MAX]],
        samples=[
            {"file": name, "caption": one.text, "width": one.width, "height": one.height}
            for one, name in names
        ],
        held_out=-(-files // 10) if files >= 10 else 0,
        sizes=[
            {"width": width, "height": height, "count": count}
            for (width, height), count in sorted(counts.items())
        ],
        steps_total=parameters.steps,
        tokens_per_step=parameters.batch_size * parameters.gradient_accumulation_steps * tokens,
        base_parameters=spec.weights_bytes.get("transformer", 0) // _STORED_BYTES,
        trainable_parameters=trainable,
        memory_bytes=_memory(
            spec.weights_bytes, base, parameters.batch_size * tokens, trainable, "cpu"
        ),
        gpu_memory_bytes=_memory(
            spec.weights_bytes, base, parameters.batch_size * tokens, trainable, "gpu"
        ),
        critical_errors=_critical(found),
    )


def _critical(found: PictureSet) -> list[str]:
    if len(found.kept) >= PICTURES_MIN:
        return []
    there = f"{len(found.kept)} of its {found.total} pictures can be trained on"
    return [f"The dataset has too few pictures: {there}, and it takes {PICTURES_MIN} at least."]


def _memory(
    weights_bytes: Mapping[str, int], base: _Base, tokens: int, trainable: int, device: str
) -> int:
    """Returns the peak bytes: either while prompts and pictures are encoded, or during training,
    with the transformer and the adapter. Float32 on a CPU, 16 bits on a GPU."""
    wide = 2 if device == "cpu" else 1
    autoencoder = wide * weights_bytes.get("vae", 0)
    encoding = autoencoder + wide * sum(
        size for part, size in weights_bytes.items() if part.startswith("text_encoder")
    )
    transformer = wide * weights_bytes.get("transformer", 0)
    blocks = base.double_blocks + base.single_blocks
    block = tokens * 58 * base.hidden
    is_checkpointed = weights_bytes.get("transformer", 0) > _STORED_BYTES * _CHECKPOINTED_PARAMETERS
    kept = blocks * tokens * base.hidden * 2 + block if is_checkpointed else blocks * block
    training = transformer + autoencoder + trainable * _TRAINED_BYTES + wide * kept
    return max(encoding, training) + _LIBRARIES_BYTES[device]


def _name(spec: ValidatePicturesSpec, path: Path) -> str:
    folder = Path(spec.dataset_dir)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def _report(**fields: Any) -> PicturesReport:
    numbers = (
        "pictures_total pictures_kept left_out_total held_out steps_total tokens_per_step "
        "base_parameters trainable_parameters memory_bytes gpu_memory_bytes"
    )
    lists = "left_out notes samples sizes critical_errors"
    nothing = {**dict.fromkeys(numbers.split(), 0), **{name: [] for name in lists.split()}}
    return PicturesReport.model_validate(nothing | fields)
