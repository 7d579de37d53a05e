"""`export`: turns a text fine-tune into a standalone model for Transformers, llama.cpp or
Ollama."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

from ..errors import PlainError, StopRequested
from ..protocol import ExportGgufSpec
from ..workload import workload
from .card import model_card
from .compare import Comparison, compare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..protocol import ExportSafetensorsSpec
    from ..reporter import Reporter

    ExportSpec = ExportSafetensorsSpec | ExportGgufSpec

_GENERATION = "generation_config.json"


def run(spec: ExportSpec) -> int:
    """Exports the model; a restarted attempt starts over. Returns the exit status."""
    with workload(spec, "export on a machine with more of it") as work:
        inputs = work.inputs()
        # A full fine-tune has no adapter and is only converted.
        for name in ("base_model", *([] if isinstance(spec, ExportGgufSpec) else ["adapter"])):
            if name not in inputs:
                raise PlainError(f"The spec has no input {name}.")
        began = time.monotonic()
        out = work.work_dir / "outputs"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        if isinstance(spec, ExportGgufSpec):
            comparison = _gguf(spec, inputs, work.work_dir, out, work.reporter)
        else:
            comparison = _safetensors(spec, inputs, out, work.reporter)
        work.reporter.log(comparison.sentence)
        card = model_card(spec, comparison.sentence, is_merged="adapter" in inputs)
        (out / "README.md").write_text(card, encoding="utf-8")
        summary = {
            "prompts": comparison.prompts,
            "equal_answers": comparison.equal,
            "size_bytes": sum(file.stat().st_size for file in out.iterdir()),
            "seconds": round(time.monotonic() - began, 3),
            **({"file_name": spec.file_name} if isinstance(spec, ExportGgufSpec) else {}),
        }
        work.reporter.result(work.upload(out), summary)
    return 0


def _gguf(
    spec: ExportGgufSpec, inputs: dict[str, Path], work_dir: Path, out: Path, reporter: Reporter
) -> Comparison:
    from ..gguf_file import rewrite_gguf
    from ..serve.convert_adapter import convert_adapter
    from .compare import generate_served_answers
    from .merge_gguf import merge_gguf
    from .modelfile import modelfile

    base, adapter_folder = inputs["base_model"], inputs.get("adapter")
    source = base / spec.base_model_file
    if not source.is_file():
        raise PlainError(f"The input base_model has no file {spec.base_model_file}.")
    target = out / f"{spec.file_name}.gguf"
    progress = _steps(reporter)
    if adapter_folder is None:
        reporter.phase("converting")
        adapter = None
        said_of_it = {"general.name": spec.title}
        rewrite_gguf(source, target, spec.quantization, progress, said=said_of_it)
    else:
        reporter.phase("merging")
        adapter = work_dir / "adapter.gguf"
        convert_adapter(adapter_folder, base, adapter)
        merge_gguf(source, adapter, target, spec.quantization, spec.title, progress)
    if (base / _GENERATION).is_file():
        shutil.copyfile(base / _GENERATION, out / _GENERATION)
    made = modelfile(target.name, base, adapter_folder or base)
    (out / "Modelfile").write_text(made, encoding="utf-8")

    def said(folder: Path, file: str, with_adapter: Path | None) -> list[str]:
        return generate_served_answers(
            spec, folder, file, with_adapter, spec.prompts, lambda: reporter.stop_requested
        )

    reporter.phase("comparing answers", counted=False)
    if not spec.prompts:
        return Comparison(0, 0)
    return compare(said(base, spec.base_model_file, adapter), said(out, target.name, None))


def _safetensors(
    spec: ExportSafetensorsSpec, inputs: dict[str, Path], out: Path, reporter: Reporter
) -> Comparison:
    from ..train.lora.load import load_base
    from .compare import generate_loaded_answers
    from .merge_adapter import load_with_adapter, save_merged

    base, adapter = inputs["base_model"], inputs["adapter"]

    def said(model: Any, tokenizer: Path) -> list[str]:
        return generate_loaded_answers(
            model, tokenizer, spec.prompts, lambda: reporter.stop_requested
        )

    reporter.phase("merging", counted=False)
    adapted = load_with_adapter(base, adapter)
    before = said(adapted, adapter)
    save_merged(adapted, base, out)
    # Only one of the two models is in memory.
    del adapted
    reporter.phase("comparing answers", counted=False)
    return compare(before, said(load_base(out, "auto"), out)) if before else Comparison(0, 0)


def _steps(reporter: Reporter) -> Callable[[int, int], None]:
    """Reports progress. Raises StopRequested: a partial merge is useless."""

    def progress(done: int, total: int) -> None:
        if reporter.stop_requested:
            raise StopRequested
        reporter.progress(done, total, "steps")

    return progress
