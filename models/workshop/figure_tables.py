"""Formats the figures of a model for its card, with kinds of pictures side by side."""

from __future__ import annotations

from collections.abc import Mapping

# The measurements of each kind of pictures, in column order.
MEASURES = (
    *("named", "object_top1", "object_top5", "caption_top1", "caption_top5"),
    *("detail", "kid"),
)
# From the best kind to the kinds that must fail.
KINDS = {
    "real_pictures": "real pictures",
    "reconstructions": "reconstructions, the ceiling",
    "unpolished": "reconstructions before the decoder was polished",
    "top1": "one expert a step",
    "top2": "two experts a step",
    "drawn": "from text alone",
    "base": "the base of the experts alone",
    "expert_0": "expert 0 alone",
    "random_routing": "random routing",
    "ellipses": "ellipses, which must fail",
    "untrained": "untrained, which must fail",
}


def figure_tables(figures: Mapping[str, float]) -> str:
    """Returns a table of the measurements by kind of pictures, and a table of all other figures
    except the experts' losses. Brackets hold 95 % intervals."""
    kinds = [kind for kind in KINDS if f"{kind}_named" in figures]
    in_table = {f"{kind}_{measure}" for kind in kinds for measure in MEASURES}
    measures = [one for one in MEASURES if any(f"{kind}_{one}" in figures for kind in kinds)]
    lines = [
        f"| pictures | {' | '.join(one.replace('_', ' ') for one in measures)} |",
        f"|---|{'---|' * len(measures)}",
    ]
    for kind in kinds:
        cells = [_cell(figures, f"{kind}_{measure}") for measure in measures]
        lines.append(f"| {KINDS[kind]} | {' | '.join(cells)} |")
    lines += ["", "| figure | |", "|---|---|"]
    for name in sorted(figures):
        if name not in in_table and not name.endswith(("_low", "_high")) and "_loss_" not in name:
            lines.append(f"| {name.replace('_', ' ')} | {_cell(figures, name)} |")
    return "\n".join(lines)


def expert_table(figures: Mapping[str, float]) -> str:
    """Returns one line per expert: its loss and the base's on its own cluster, and its loss on the
    others."""
    lines = [
        "| expert | on its cluster | the base there | on the other clusters |",
        "|---|---|---|---|",
    ]
    number = 0
    while f"expert_{number}_loss_own" in figures:
        own, of_base, others = (
            f"{figures[f'expert_{number}_loss_{where}']:.4f}"
            for where in ("own", "of_base", "others")
        )
        lines.append(f"| {number} | {own} | {of_base} | {others} |")
        number += 1
    return "\n".join(lines)


def decoder_sentence(figures: Mapping[str, float]) -> str:
    """Returns which rows were measured before the decoder was polished, if any."""
    if "unpolished_named" not in figures:
        return ""
    return (
        "The pictures of the experts were measured before the decoder was polished, so their "
        "detail and kid are relative to the earlier reconstructions."
    )


def routing_sentence(figures: Mapping[str, float]) -> str:
    """Returns the gain of routing over the base alone, and whether it is significant."""
    routed, base = figures["top1_object_top1"], figures["base_object_top1"]
    sentence = (
        f"{routed:.1%} of the pictures by routed experts show their object, and {base:.1%} of the "
        f"pictures by the base alone"
    )
    if figures["base_object_top1_low"] <= routed <= figures["base_object_top1_high"]:
        return f"{sentence}: at this size, routing has no significant benefit."
    return f"{sentence}."


def _cell(figures: Mapping[str, float], name: str) -> str:
    if name not in figures:
        return ""
    figure = figures[name]
    value = f"{round(figure, 4):.3g}" if abs(figure) < 1000 else f"{figure:.0f}"
    if f"{name}_low" not in figures:
        return value
    return f"{value} ({figures[f'{name}_low']:.2f} to {figures[f'{name}_high']:.2f})"
