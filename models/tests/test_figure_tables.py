from workshop.figure_tables import decoder_sentence, figure_tables, routing_sentence


def share(name: str, value: float) -> dict[str, float]:
    return {name: value, f"{name}_low": value - 0.04, f"{name}_high": value + 0.04}


def test_lists_kinds_of_pictures_in_one_table_and_other_figures_below() -> None:
    figures = {
        **share("ellipses_named", 0.05),
        **share("top1_named", 0.25),
        **share("edits_right", 0.5),
        "top1_kid": 0.0068,
        "top1_swaps": 0.883,
        "pictures": 500,
    }
    assert figure_tables(figures).splitlines() == [
        "| pictures | named | kid |",
        "|---|---|---|",
        "| one expert a step | 0.25 (0.21 to 0.29) | 0.0068 |",
        "| ellipses, which must fail | 0.05 (0.01 to 0.09) |  |",
        "",
        "| figure | |",
        "|---|---|",
        "| edits right | 0.5 (0.46 to 0.54) |",
        "| pictures | 500 |",
        "| top1 swaps | 0.883 |",
    ]


def test_marks_rows_measured_before_the_decoder_was_polished() -> None:
    assert decoder_sentence(share("reconstructions_named", 0.79)) == ""
    both = share("reconstructions_named", 0.79) | share("unpolished_named", 0.72)
    assert decoder_sentence(both).startswith("The pictures of the experts were measured before")
    (_, _, first, second, *_) = figure_tables(both).splitlines()
    assert first.startswith("| reconstructions, the ceiling | 0.79")
    assert second.startswith("| reconstructions before the decoder was polished | 0.72")


def test_reports_no_benefit_of_routing_within_the_interval_of_the_base() -> None:
    base = share("base_object_top1", 0.386)
    assert routing_sentence({**base, "top1_object_top1": 0.384}) == (
        "38.4% of the pictures by routed experts show their object, and 38.6% of the pictures by "
        "the base alone: at this size, routing has no significant benefit."
    )
    assert routing_sentence({**base, "top1_object_top1": 0.45}).endswith(
        "38.6% of the pictures by the base alone."
    )
