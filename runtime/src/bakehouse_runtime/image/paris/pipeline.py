"""Paris whole: from prompts to pictures, the starter model and the published one alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image
from torch import Tensor

from ...errors import PlainError
from ...files import read_object
from ..autoencoder import decode_latents, load_autoencoder
from ..flow import guided_velocity
from ..pictures import to_pictures
from ..text import LONGEST_SENTENCE_WINDOW, ClipText, SentenceText, TextEncoder
from .model import Expert, Router
from .sampling import ExpertVelocity, RoutingTrace, Strategy, sample
from .weights import load_expert, load_router


@dataclass(frozen=True)
class ParisRequest:
    """One picture. `guidance` 1 means the plain model; `k` counts only for `topk`."""

    prompt: str
    seed: int
    steps: int = 20
    guidance: float = 7.5
    strategy: Strategy = "topk"
    k: int = 2

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise PlainError(f"steps is {self.steps}: a picture takes at least one.")
        if self.k < 1:
            raise PlainError(f"k is {self.k}: at least one expert must draw.")


@dataclass(frozen=True)
class ParisPicture:
    """A picture and how it was routed."""

    picture: Image.Image
    expert_used: int
    routing_confidence: float


@dataclass(frozen=True)
class ParisStep:
    """What a watcher is told after a step: its number and the experts' weights, one a picture."""

    number: int
    total: int
    weights: list[list[float]]


class ParisPipeline:
    """Eight experts, their router, the autoencoder and the text encoder on one device."""

    def __init__(
        self,
        experts: Sequence[Expert],
        router: Router,
        autoencoder: AutoencoderKL,
        text_encoder: TextEncoder,
        device: torch.device,
    ) -> None:
        _check_parts(experts, router, autoencoder, text_encoder)
        self.device = device
        self.experts = [expert.to(device).eval() for expert in experts]
        self.router = router.to(device).eval()
        self.autoencoder = autoencoder.to(device).eval()  # pyright: ignore[reportArgumentType]
        self.text_encoder = text_encoder
        text_encoder.to(device)

    @classmethod
    def from_folder(
        cls, folder: Path, device: torch.device, dtype: torch.dtype = torch.float32
    ) -> ParisPipeline:
        """Loads `expert_0/` and so on, `router/`, `vae/` and the text encoder.

        `dtype` is that of experts and router; the autoencoder and the text encoder are small
        beside them and stay in float32. Raises PlainError for what is missing or damaged.
        """
        count = len(list(folder.glob("expert_*")))
        if count == 0:
            raise PlainError(
                f"The folder {folder.name} holds no expert_0: it is not a Paris model."
            )
        return cls(
            [load_expert(folder / f"expert_{number}").to(dtype) for number in range(count)],
            load_router(folder / "router").to(dtype),
            load_autoencoder(folder / "vae"),
            load_text_encoder(folder),
            device,
        )

    @torch.no_grad()
    def generate(
        self, requests: Sequence[ParisRequest], on_step: Callable[[ParisStep], bool] | None = None
    ) -> list[ParisPicture]:
        """Draws all requests at once; they must agree in steps, guidance and routing.

        A picture depends on its own prompt and seed alone, not on its company. Where `on_step`
        returns False the drawing stops early and is shown as it is.
        """
        first = requests[0]
        if any(_settings(request) != _settings(first) for request in requests):
            raise ValueError("Pictures drawn at once must share steps, guidance and routing.")
        texts = self.text_encoder.encode([request.prompt for request in requests]).tokens
        nothing = self.text_encoder.encode([""]).tokens

        def tell(number: int, latents: Tensor, weights: Tensor) -> bool:
            return on_step is None or on_step(ParisStep(number, first.steps, weights.tolist()))

        latents, trace = sample(
            self._noise(requests),
            first.steps,
            self._probabilities,
            [self._velocity(expert, texts, nothing, first.guidance) for expert in self.experts],
            first.strategy,
            first.k,
            tell,
        )
        return _pictures(decode_latents(self.autoencoder, latents), trace)

    def _noise(self, requests: Sequence[ParisRequest]) -> Tensor:
        shape = self.router.shape
        size = (shape.latent_channels, shape.latent_side, shape.latent_side)
        drawn = [
            torch.randn(size, generator=torch.Generator().manual_seed(request.seed))
            for request in requests
        ]
        return torch.stack(drawn).to(self.device)

    def _probabilities(self, latents: Tensor, t: Tensor) -> Tensor:
        dtype = self.router.pos_embed.dtype
        return self.router(latents.to(dtype), 1000 * t).float().softmax(dim=-1)

    def _velocity(
        self, expert: Expert, texts: Tensor, nothing: Tensor, guidance: float
    ) -> ExpertVelocity:
        dtype = expert.pos_embed.dtype

        def velocity(latents: Tensor, t: Tensor, rows: Tensor) -> Tensor:
            with_prompt = texts[rows].to(dtype)
            if guidance == 1:
                return expert(latents.to(dtype), 1000 * t, with_prompt).float()
            with_and_without = torch.cat([with_prompt, nothing.to(dtype).expand_as(with_prompt)])

            def of_both(latents: Tensor, t: Tensor) -> Tensor:
                return expert(latents.to(dtype), 1000 * t, with_and_without)

            return guided_velocity(of_both, guidance)(latents, t)

        return velocity


def _settings(request: ParisRequest) -> tuple[int, float, Strategy, int]:
    return request.steps, request.guidance, request.strategy, request.k


def _pictures(decoded: Tensor, trace: RoutingTrace) -> list[ParisPicture]:
    pictures = to_pictures(decoded.cpu().numpy())
    routed = zip(pictures, trace.expert_used, trace.confidence, strict=True)
    return [ParisPicture(picture, used, sure) for picture, used, sure in routed]


def load_text_encoder(folder: Path) -> ClipText | SentenceText:
    """The folder's own CLIP, or, where `model_index.json` names a window, the sentence encoder."""
    if (folder / "text_encoder").is_dir():
        return ClipText(folder / "text_encoder", folder / "tokenizer")
    index_path = folder / "model_index.json"
    window = read_object(index_path).get("text_window") if index_path.exists() else None
    if window is None:
        raise PlainError(
            f"The folder {folder.name} has neither a text_encoder nor a model_index.json with a "
            "text_window."
        )
    # An empty prompt is two tokens already.
    if not isinstance(window, int) or not 2 <= window <= LONGEST_SENTENCE_WINDOW:
        raise PlainError(
            f"The text_window in {folder.name}/model_index.json is not a number from 2 to "
            f"{LONGEST_SENTENCE_WINDOW}."
        )
    return SentenceText(window)


def _check_parts(
    experts: Sequence[Expert], router: Router, autoencoder: AutoencoderKL, text: TextEncoder
) -> None:
    if router.shape.experts != len(experts):
        raise PlainError(
            f"The router chooses among {router.shape.experts} experts, but there are "
            f"{len(experts)}."
        )
    channels = {expert.shape.latent_channels for expert in experts}
    channels |= {router.shape.latent_channels, int(autoencoder.config["latent_channels"])}
    if len(channels) > 1:
        raise PlainError("Experts, router and autoencoder do not have the same latent channels.")
    if len({part.shape.latent_side for part in (*experts, router)}) > 1:
        raise PlainError("Experts and router do not have latents of the same size.")
    if any(expert.shape.text_size != text.size for expert in experts):
        raise PlainError(
            f"The experts read text states of size {experts[0].shape.text_size}, but the text "
            f"encoder gives {text.size}."
        )
