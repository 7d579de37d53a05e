"""The cut-out objects of scenes: names, synonyms and pixels.

Sources: `@lobehub/fluent-emoji-3d` (MIT, 256 px renderings with alpha), named by
`unicode-emoji-json` and `emojilib` (both MIT). All three are unpacked npm packages.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

# Flags, letters and signs cannot be learnt at this size; people differ mostly by skin tone, and
# faces by the line of the mouth. Only distinctive ones are used.
KEPT_FACES = frozenset(
    {
        "smiling face", "winking face", "crying face", "angry face", "skull", "ghost", "alien",
        "robot", "red heart", "broken heart",
    }
)  # fmt: skip
# Living things and food of all versions; man-made things only of the first version (2015), which
# are common ones.
KEPT_GROUPS = {
    "Smileys & Emotion": 99.0,
    "Animals & Nature": 99.0,
    "Food & Drink": 99.0,
    "Travel & Places": 1.0,
    "Activities": 1.0,
    "Objects": 1.0,
}
# Series of near copies that differ by a clock hand, a phase, or the print on a paper.
LEFT_OUT = re.compile(
    r"clock|thirty|moon|banknote|bubble|mailbox|globe|japanese|clover|suit$|traffic light"
    r"|calendar|chart|bookmark|tray|ruler|ledger|memo|e-mail|incoming|chick$|pig nose|page"
    r"|railway track|motorway|mountain railway|railway car|light rail|tram car|trolleybus"
    r"|optical disk|computer disk|dvd|card index|linked|old key|unlocked|microbe|musical notes",
    re.IGNORECASE,
)
PLAIN_NAME = re.compile(r"^[a-z][a-z-]+( [a-z][a-z-]+)?$", re.IGNORECASE)

COLOUR_WORDS = (
    "red", "orange", "yellow", "green", "blue", "light blue", "purple", "pink", "brown",
    "black", "white", "grey",
)  # fmt: skip

# An object with fewer colourful pixels looks the same in every hue.
COLOURFUL_SHARE = 0.35
COLOURFUL_SATURATION = 70
# Soft shadows below this alpha do not count as part of the object's outline.
FAINT_ALPHA = 16


@dataclass(frozen=True)
class CutOut:
    """One object on a transparent ground, cropped to its visible part."""

    name: str
    other_names: tuple[str, ...]
    group: str
    pixels: Image.Image
    recolourable: bool


NAMES = Path("unicode-emoji-json", "data-by-emoji.json")
KEYWORDS = Path("emojilib", "dist", "emoji-en-US.json")


def load_cut_outs(packages: Path, side: int = 160) -> list[CutOut]:
    """Reads the objects from the folder with the three unpacked packages.

    `side` is the longer side in pixels of objects in memory. The order is the packages' own, so
    that an index means the same object in every run.
    """
    keywords = json.loads((packages / KEYWORDS).read_text())
    chosen = _chosen(packages)
    taken = {name for _, name, _, _ in chosen}
    others = {emoji: _other_names(name, keywords.get(emoji, [])) for emoji, name, _, _ in chosen}
    uses = Counter(word for words in others.values() for word in words)
    cut_outs = []
    for emoji, name, group, path in chosen:
        pixels = _read(path, side)
        # A word for several objects would teach that they are the same.
        other = tuple(word for word in others[emoji] if uses[word] == 1 and word not in taken)
        cut_outs.append(CutOut(name, other, group, pixels, _is_recolourable(pixels)))
    return cut_outs


def source_files(packages: Path) -> list[Path]:
    """Returns the files that `load_cut_outs` reads, a small part of the packages."""
    pictures = [path for _, _, _, path in _chosen(packages)]
    return [packages / NAMES, packages / KEYWORDS, *pictures]


def _chosen(packages: Path) -> list[tuple[str, str, str, Path]]:
    """Returns emoji, name, group and picture of each object."""
    names = json.loads((packages / NAMES).read_text())
    assets = packages / "fluent-emoji-3d" / "assets"
    return [
        (emoji, entry["name"].lower(), entry["group"], path)
        for emoji, entry in names.items()
        if float(entry["emoji_version"]) <= KEPT_GROUPS.get(entry["group"], 0.0)
        and (entry["group"] != "Smileys & Emotion" or entry["name"] in KEPT_FACES)
        and PLAIN_NAME.match(entry["name"])
        and not LEFT_OUT.search(entry["name"])
        and (path := _asset(assets, emoji)) is not None
    ]


def _asset(assets: Path, emoji: str) -> Path | None:
    code = "-".join(f"{ord(character):04x}" for character in emoji)
    for name in (code, code.replace("-fe0f", "")):
        path = assets / f"{name}.webp"
        if path.exists():
            return path
    return None


def _other_names(name: str, keywords: list[str]) -> list[str]:
    # Keywords are sorted by relevance: after the first few they are associations.
    words = [keyword.replace("_", " ").lower() for keyword in keywords[:4]]
    return [word for word in words if PLAIN_NAME.match(word) and word != name and len(word) > 2]


def _read(path: Path, side: int) -> Image.Image:
    with Image.open(path) as picture:
        rgba = picture.convert("RGBA")
    visible = np.asarray(rgba.getchannel("A")) > FAINT_ALPHA
    box = Image.fromarray(visible).getbbox()
    if box is None:
        raise ValueError(f"{path.name} is empty: no pixel of it is visible.")
    rgba = rgba.crop(box)
    scale = side / max(rgba.size)
    size = (max(1, round(rgba.width * scale)), max(1, round(rgba.height * scale)))
    return rgba.resize(size, Image.Resampling.LANCZOS)


def _is_recolourable(pixels: Image.Image) -> bool:
    visible = np.asarray(pixels.getchannel("A")) > 128
    saturation = np.asarray(pixels.convert("RGB").convert("HSV"))[..., 1]
    return bool((saturation[visible] > COLOURFUL_SATURATION).mean() > COLOURFUL_SHARE)
