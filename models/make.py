"""Makes the starter image models, step by step.

    python models/make.py fetch          the data packages, from npm
    python models/make.py autoencoder    one small autoencoder for both models
    python models/make.py bank           pictures and captions as latents and token states
    python models/make.py base           the model that all experts start from, on all pictures
    python models/make.py clusters       eight clusters of the pictures
    python models/make.py expert --number K
    python models/make.py router
    python models/make.py kontext-banks
    python models/make.py kontext
    python models/make.py judge          what measures how well a picture fits its prompt
    python models/make.py all            all of these that have not ended yet, in turn
    python models/make.py assemble       starter-paris/, starter-kontext/, judge/: half precision
    python models/make.py measure        their figures
    python models/make.py cards          their cards, with the figures and sample pictures

Everything lands in one folder (`--work`, by default below the user's cache): the packages, one
folder a step with its checkpoints, sample grids and log. Each training resumes where it was
stopped or killed. `recipe.json` beside this file holds the settings; what it does not name is as
the trainers have it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL

    from bakehouse_runtime.image.training.bank import Bank

Recipe = dict[str, Any]
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runtime" / "src"))


class ConsoleReporter:
    """One JSON line a report, to `log.jsonl` and stdout; stops on SIGTERM and SIGINT."""

    def __init__(self, folder: Path) -> None:
        import torch

        from bakehouse_runtime.device import choose_device

        folder.mkdir(parents=True, exist_ok=True)
        self._log_file = (folder / "log.jsonl").open("a", buffering=1)
        self.stop_requested = False
        self._write("machine", device=choose_device("auto"), threads=torch.get_num_threads())
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)

    def _stop(self, *_: object) -> None:
        self.stop_requested = True

    def _write(self, kind: str, **values: object) -> None:
        line = json.dumps({"at": round(time.time(), 1), "type": kind, **values})
        self._log_file.write(line + "\n")
        print(line, flush=True)

    def phase(self, phase: str) -> None:
        self._write("phase", phase=phase)

    def progress(
        self, done: float, total: float, unit: str, remaining_seconds: float | None = None
    ) -> None:
        self._write("progress", done=done, total=total, unit=unit, remaining=remaining_seconds)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        self._write("metrics", step=step, **{name: round(v, 6) for name, v in values.items()})

    def log(self, line: str) -> None:
        self._write("log", line=line)

    def checkpoint(self, step: int) -> None:
        self._write("checkpoint", step=step)

    def samples(self, sheet: Path) -> None:
        self._write("samples", path=sheet.name)


def make_autoencoder(work: Path, recipe: Recipe) -> None:
    import numpy as np

    from bakehouse_runtime.image.scenes.objects import load_cut_outs
    from bakehouse_runtime.image.training.loop import LoopSettings
    from bakehouse_runtime.image.training.sources import ScenePictures
    from bakehouse_runtime.train.autoencoder.export import export_autoencoder
    from bakehouse_runtime.train.autoencoder.model import AutoencoderShape, build_autoencoder
    from bakehouse_runtime.train.autoencoder.train import AutoencoderTraining, train_autoencoder

    settings = recipe["autoencoder"]
    shape = AutoencoderShape(picture_side=recipe["picture_side"])
    pictures = ScenePictures(load_cut_outs(work / "packages"), shape.picture_side)
    # A stream of its own seed: these very pictures are never trained on.
    held_out = pictures.draw(np.random.default_rng((settings["loop"]["seed"], 2**40)), 64)
    folder = work / "autoencoder"
    claim(folder, "autoencoder", recipe)
    model = build_autoencoder(shape, settings["loop"]["seed"])
    training = AutoencoderTraining(LoopSettings(**settings["loop"]), settings["batch_size"])
    if train_autoencoder(model, pictures, held_out, training, folder, ConsoleReporter(folder)):
        export_autoencoder(model, held_out, folder / "model")


def make_bank(work: Path, recipe: Recipe) -> None:
    from bakehouse_runtime.image.scenes.objects import load_cut_outs
    from bakehouse_runtime.image.text import SentenceText
    from bakehouse_runtime.image.training.bank import write_bank
    from bakehouse_runtime.image.training.scene_examples import SceneExamples

    settings = recipe["bank"]
    cut_outs = load_cut_outs(work / "packages")
    examples = SceneExamples(
        cut_outs, recipe["picture_side"], settings["examples"], settings["seed"]
    )
    folder = work / "bank"
    claim(folder, "bank", recipe)
    text = SentenceText(recipe["text_window"])
    write_bank(
        folder,
        examples,
        trained_autoencoder(work),
        text,
        ConsoleReporter(folder),
    )


def claim(folder: Path, step: str, recipe: Recipe) -> None:
    """Refuses a folder that was begun with other settings: what is in it would count as done."""
    settings = {name: recipe[name] for name in SETTINGS[step]}
    text = json.dumps(settings, indent=2) + "\n"
    path = folder / "settings.json"
    begun = folder.exists() and any(folder.iterdir())
    if begun and not (path.exists() and path.read_text() == text):
        raise SystemExit(
            f"{folder} was made with other settings. Remove it to make it anew, or correct its "
            "settings.json if it may go on with these."
        )
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_base(work: Path, recipe: Recipe) -> None:
    from bakehouse_runtime.image.training.bank import Bank

    bank = Bank(work / "bank")
    rows, held_out = one_row_in_fifty(len(bank))
    train_one_expert(work, recipe, "base", bank, rows, held_out, initial=None)


def train_one_expert(
    work: Path,
    recipe: Recipe,
    name: str,
    bank: Bank,
    rows: np.ndarray,
    held_out: np.ndarray,
    initial: Path | None,
) -> None:
    import torch

    from bakehouse_runtime.image.paris.model import Expert, ExpertShape
    from bakehouse_runtime.image.paris.weights import load_expert, save_expert
    from bakehouse_runtime.image.training.loop import LoopSettings
    from bakehouse_runtime.train.paris.train import PartTraining, train_expert

    step = "base" if initial is None else "expert"
    settings = recipe[step]
    folder = work / name
    claim(folder, step, recipe)
    if initial is None:
        expert = Expert(ExpertShape(**recipe["expert_shape"]))
        expert.initialise(settings["loop"]["seed"])
    else:
        expert = load_expert(initial)
    training = PartTraining(LoopSettings(**settings["loop"]), settings["batch_size"])
    # The first captions of held-out pictures, whatever they say.
    texts = bank.text_of[held_out[:16]]
    autoencoder = trained_autoencoder(work)
    reporter = ConsoleReporter(folder)
    finished = train_expert(
        expert, bank, rows, held_out, training, texts, autoencoder, folder, reporter
    )
    if finished:
        save_expert(expert, folder / "model", torch.float32)


def trained_autoencoder(work: Path) -> AutoencoderKL:
    """The autoencoder where trainings run."""
    from bakehouse_runtime.image.autoencoder import load_autoencoder
    from bakehouse_runtime.image.training.device import training_device

    return load_autoencoder(work / "autoencoder" / "model", training_device("auto"))


def one_row_in_fifty(count: int) -> tuple[np.ndarray, np.ndarray]:
    """One row in fifty measures and is not trained on."""
    import numpy as np

    rows = np.arange(count)
    return rows[rows % 50 != 0], rows[rows % 50 == 0]


def make_judge(work: Path, recipe: Recipe) -> None:
    import torch

    from bakehouse_runtime.image.evaluation.judge import Judge
    from bakehouse_runtime.image.scenes.objects import load_cut_outs
    from bakehouse_runtime.image.text import SentenceText
    from bakehouse_runtime.image.training.loop import LoopSettings
    from bakehouse_runtime.train.judge import train_judge

    settings = recipe["judge"]
    folder = work / "judge"
    claim(folder, "judge", recipe)
    cut_outs = load_cut_outs(work / "packages")
    loop = LoopSettings(**settings["loop"])
    torch.manual_seed(loop.seed)
    train_judge(
        Judge(), cut_outs, SentenceText(), loop, settings["batch_size"], folder,
        ConsoleReporter(folder),
    )  # fmt: skip


def make_clusters(work: Path, recipe: Recipe) -> None:
    import numpy as np

    from bakehouse_runtime.image.clusters import cluster_bank
    from bakehouse_runtime.image.text import SentenceText
    from bakehouse_runtime.image.training.bank import Bank

    settings = recipe["clusters"]
    folder = work / "clusters"
    claim(folder, "clusters", recipe)
    sentences = SentenceText(recipe["text_window"])
    found = cluster_bank(
        Bank(work / "bank"), sentences, settings["fine"], settings["coarse"], settings["seed"]
    )
    np.save(folder / "clusters.npy", found.clusters)
    (folder / "summary.json").write_text(json.dumps(found.summary, indent=2) + "\n")
    print(json.dumps(found.summary))


def make_expert(work: Path, recipe: Recipe, number: int) -> None:
    import numpy as np

    from bakehouse_runtime.image.training.bank import Bank

    bank = Bank(work / "bank")
    clusters = np.load(work / "clusters" / "clusters.npy")
    rows, held_out = (part[clusters[part] == number] for part in one_row_in_fifty(len(bank)))
    # A small cluster may have nothing to spare: then it is measured on what it is trained on.
    held_out = held_out if len(held_out) > 0 else rows
    train_one_expert(
        work, recipe, f"expert_{number}", bank, rows, held_out, work / "base" / "model"
    )


def make_router(work: Path, recipe: Recipe) -> None:
    import numpy as np
    import torch

    from bakehouse_runtime.image.paris.model import Router, RouterShape
    from bakehouse_runtime.image.paris.weights import save_router
    from bakehouse_runtime.image.training.bank import Bank
    from bakehouse_runtime.image.training.loop import LoopSettings
    from bakehouse_runtime.train.paris.train import PartTraining, train_router

    settings = recipe["router"]
    bank = Bank(work / "bank")
    clusters = np.load(work / "clusters" / "clusters.npy")
    rows, held_out = one_row_in_fifty(len(bank))
    router = Router(RouterShape(**recipe["router_shape"]))
    router.initialise(settings["loop"]["seed"])
    folder = work / "router"
    claim(folder, "router", recipe)
    training = PartTraining(LoopSettings(**settings["loop"]), settings["batch_size"])
    reporter = ConsoleReporter(folder)
    if train_router(router, bank, clusters, rows, held_out, training, folder, reporter):
        save_router(router, folder / "model", torch.float32)


def make_kontext_banks(work: Path, recipe: Recipe) -> None:
    from bakehouse_runtime.image.kontext.text import FluxText
    from bakehouse_runtime.image.scenes.objects import load_cut_outs
    from bakehouse_runtime.image.training.bank import write_bank
    from bakehouse_runtime.image.training.scene_examples import EditExamples, SceneExamples

    cut_outs = load_cut_outs(work / "packages")
    autoencoder = trained_autoencoder(work)
    text = FluxText.of_sentence_encoder(recipe["text_window"])
    for name, kind in (("edits", EditExamples), ("pictures", SceneExamples)):
        for part in ("train", "held-out"):
            settings = recipe["kontext_banks"][part]
            examples = kind(
                cut_outs, recipe["picture_side"], settings["examples"], settings["seed"]
            )
            folder = work / f"kontext-{name}-{part}"
            claim(folder, "kontext-banks", recipe)
            if not write_bank(folder, examples, autoencoder, text, ConsoleReporter(folder)):
                return


def make_kontext(work: Path, recipe: Recipe) -> None:
    import torch

    from bakehouse_runtime.image.training.bank import Bank
    from bakehouse_runtime.image.training.loop import LoopSettings
    from bakehouse_runtime.train.kontext.model import build_transformer, export_kontext
    from bakehouse_runtime.train.kontext.train import KontextData, KontextTraining, train_kontext

    settings = recipe["kontext"]
    shape = recipe["kontext_shape"] | {"axes": tuple(recipe["kontext_shape"]["axes"])}
    transformer = build_transformer(**shape, seed=settings["loop"]["seed"])
    autoencoder = trained_autoencoder(work)
    data, held_out = (
        KontextData(Bank(work / f"kontext-edits-{part}"), Bank(work / f"kontext-pictures-{part}"))
        for part in ("train", "held-out")
    )
    folder = work / "kontext"
    claim(folder, "kontext", recipe)
    training = KontextTraining(
        LoopSettings(**settings["loop"]),
        settings["batch_size"],
        edit_share=settings["edit_share"],
        guidance=tuple(settings["guidance"]),
        time_shift=settings["time_shift"],
    )
    reporter = ConsoleReporter(folder)
    if train_kontext(transformer, data, held_out, training, autoencoder, folder, reporter):
        export_kontext(transformer, autoencoder, folder / "model", torch.float32)


def fetch(work: Path, recipe: Recipe) -> None:
    packages = work / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    for name, version in recipe["packages"].items():
        folder = packages / name.split("/")[-1]
        if folder.exists():
            if json.loads((folder / "package.json").read_text())["version"] == version:
                continue
            shutil.rmtree(folder)
        with tempfile.TemporaryDirectory(dir=packages) as downloads:
            subprocess.run(
                ["npm", "pack", "--silent", f"{name}@{version}"], cwd=downloads, check=True
            )
            (archive,) = Path(downloads).glob("*.tgz")
            with tarfile.open(archive) as tar:
                tar.extractall(downloads, filter="data")
            (Path(downloads) / "package").rename(folder)
        print(f"{name} {version}", flush=True)


def assemble(work: Path, recipe: Recipe, out: Path) -> None:
    import torch
    from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel

    from bakehouse_runtime.image.autoencoder import load_autoencoder
    from bakehouse_runtime.image.evaluation.scenes import held_out_prompts
    from bakehouse_runtime.image.paris.weights import (
        load_expert,
        load_router,
        save_expert,
        save_router,
    )
    from bakehouse_runtime.image.scenes.objects import load_cut_outs
    from bakehouse_runtime.train.autoencoder.export import save_autoencoder
    from bakehouse_runtime.train.kontext.model import export_kontext

    half = torch.float16
    autoencoder = load_autoencoder(work / "autoencoder" / "model")
    paris, kontext = out / "starter-paris", out / "starter-kontext"
    for number in experts(recipe):
        save_expert(
            load_expert(work / f"expert_{number}" / "model"), paris / f"expert_{number}", half
        )
    save_router(load_router(work / "router" / "model"), paris / "router", half)
    index = {"_class_name": "DDMPipeline", "text_window": recipe["text_window"]}
    (paris / "model_index.json").write_text(json.dumps(index, indent=2) + "\n")
    trained = FluxTransformer2DModel.from_pretrained(work / "kontext" / "model" / "transformer")
    export_kontext(trained, autoencoder, kontext, half)
    save_autoencoder(autoencoder.half(), paris / "vae")
    (out / "judge").mkdir(exist_ok=True)
    shutil.copyfile(work / "judge" / "judge.safetensors", out / "judge" / "judge.safetensors")
    # For the tests, which do without the data packages.
    prompts = held_out_prompts(load_cut_outs(work / "packages"), recipe["measured"])
    fixed = [{"prompt": prompt.text, "seed": prompt.seed} for prompt in prompts]
    (out / "judge" / "prompts.json").write_text(json.dumps(fixed, indent=2) + "\n")
    weights = sum(path.stat().st_size for path in out.rglob("*.safetensors"))
    print(f"{weights / 1e6:.1f} MB of weights", flush=True)
    if weights > recipe["most_weights_mb"] * 1e6:
        raise SystemExit(
            f"That is more than the {recipe['most_weights_mb']} MB that may be shipped."
        )


def measure(work: Path, recipe: Recipe, out: Path) -> None:
    from bakehouse_runtime.image.evaluation.measure import measure_models

    for name, figures in measure_models(out, work / "packages", recipe["measured"]).items():
        text = json.dumps(figures, indent=2, sort_keys=True) + "\n"
        print(name, text, flush=True)
        # What was measured of the full-size shapes belongs to no folder here.
        if (out / name).is_dir():
            (out / name / "figures.json").write_text(text)


def cards(work: Path, recipe: Recipe, out: Path) -> None:
    from cards import write_cards

    write_cards(work, recipe, out)


# The settings of the recipe that a step's result follows from, its own the last.
ENCODED = ("packages", "picture_side", "autoencoder", "text_window")
SETTINGS = {
    "autoencoder": ("packages", "picture_side", "autoencoder"),
    "bank": (*ENCODED, "bank"),
    "base": (*ENCODED, "bank", "expert_shape", "base"),
    "clusters": (*ENCODED, "bank", "clusters"),
    "expert": (*ENCODED, "bank", "expert_shape", "base", "clusters", "expert"),
    "router": (*ENCODED, "bank", "clusters", "router_shape", "router"),
    "judge": ("packages", "judge"),
    "kontext-banks": (*ENCODED, "kontext_banks"),
    "kontext": (*ENCODED, "kontext_banks", "kontext_shape", "kontext"),
}
TRAININGS = {
    "fetch": fetch,
    "autoencoder": make_autoencoder,
    "bank": make_bank,
    "base": make_base,
    "clusters": make_clusters,
    "router": make_router,
    "kontext-banks": make_kontext_banks,
    "kontext": make_kontext,
    "judge": make_judge,
}
RELEASES = {"assemble": assemble, "measure": measure, "cards": cards}


def results(recipe: Recipe) -> dict[str, str]:
    """What a training leaves when it has come to its end, in the order in which they need each
    other."""
    return {
        "fetch": "packages/unicode-emoji-json",
        "autoencoder": "autoencoder/model",
        "bank": "bank/texts.npz",
        "base": "base/model",
        "clusters": "clusters/clusters.npy",
        "router": "router/model",
        **{f"expert_{number}": f"expert_{number}/model" for number in experts(recipe)},
        "judge": "judge/judge.safetensors",
        "kontext-banks": "kontext-pictures-held-out/texts.npz",
        "kontext": "kontext/model",
    }


def experts(recipe: Recipe) -> range:
    return range(recipe["router_shape"]["experts"])


def make_all(work: Path, recipe: Recipe) -> None:
    for step, result in results(recipe).items():
        if step != "fetch" and (work / result).exists():
            claim(work / Path(result).parts[0], step.partition("_")[0], recipe)
            continue
        if step.startswith("expert_"):
            make_expert(work, recipe, int(step.removeprefix("expert_")))
        else:
            TRAININGS[step](work, recipe)
        if not (work / result).exists():
            # Stopped on request: the next call goes on from here.
            return


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=[*TRAININGS, "expert", "all", *RELEASES])
    parser.add_argument("--number", type=int, help="which expert, from 0")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    parser.add_argument("--work", type=Path, default=cache / "bakehouse" / "training")
    parser.add_argument("--recipe", type=Path, default=HERE / "recipe.json")
    parser.add_argument("--out", type=Path, default=HERE, help="where assembled models are")
    arguments = parser.parse_args()
    recipe = json.loads(arguments.recipe.read_text())
    if arguments.step == "expert":
        if arguments.number not in experts(recipe):
            parser.error(f"expert needs --number, 0 to {experts(recipe)[-1]}")
        make_expert(arguments.work, recipe, arguments.number)
    elif arguments.step == "all":
        make_all(arguments.work, recipe)
    elif arguments.step in RELEASES:
        RELEASES[arguments.step](arguments.work, recipe, arguments.out)
    else:
        TRAININGS[arguments.step](arguments.work, recipe)


if __name__ == "__main__":
    from bakehouse_runtime.errors import PlainError

    try:
        main()
    except PlainError as error:
        raise SystemExit(str(error)) from error
