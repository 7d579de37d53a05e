"""Rewrites a GGUF tensor by tensor, with another quantisation or other weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from gguf import GGMLQuantizationType, GGUFReader, ReaderTensor
    from numpy.typing import NDArray


_FILE_TYPES = {"F16": "MOSTLY_F16", "Q8_0": "MOSTLY_Q8_0"}
# The writer sets these keys itself.
_OWN_KEYS = {"general.architecture", "general.file_type", "general.quantization_version"}
_Q8_0_BLOCK = 32


def rewrite_gguf(
    source: Path,
    target: Path,
    quantization: str,
    progress: Callable[[int, int], None],
    *,
    changed: Callable[[str, NDArray[np.float32]], NDArray[np.float32]] = lambda _, values: values,
    said: Mapping[str, str] | None = None,
) -> None:
    """Copies a GGUF with its matrices stored as F16 or Q8_0; loads one tensor at a time.

    `changed` maps a tensor's name and values to the values to store. `said` contains metadata that
    replaces the source's. `progress` receives the number of finished tensors and the total.
    """
    from gguf import GGUFReader, GGUFWriter, LlamaFileType

    reader = GGUFReader(source)
    writer = GGUFWriter(target, architecture_of(reader))
    _copy_metadata(reader, writer, said or {})
    writer.add_file_type(LlamaFileType[_FILE_TYPES[quantization]])
    if quantization == "Q8_0":
        writer.add_quantization_version(2)

    count = len(reader.tensors)
    is_mixed = any(_is_smaller(tensor) for tensor in reader.tensors)
    kinds = [_kind(tensor, quantization, is_mixed=is_mixed) for tensor in reader.tensors]
    for tensor, kind in zip(reader.tensors, kinds, strict=True):
        _announce(writer, tensor, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for number, (tensor, kind) in enumerate(zip(reader.tensors, kinds, strict=True), start=1):
        writer.write_tensor_data(_stored(changed(tensor.name, values_of(tensor)), kind))
        progress(number, count)
    writer.close()


def architecture_of(reader: GGUFReader) -> str:
    """Returns llama.cpp's name of the model family. Raises PlainError if the file has none."""
    field = reader.get_field("general.architecture")
    if field is None:
        raise PlainError("The GGUF does not name its architecture.")
    return str(field.contents())


def values_of(tensor: ReaderTensor) -> NDArray[np.float32]:
    """Returns the dequantised values of a tensor."""
    from gguf import dequantize

    return np.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)


def _copy_metadata(reader: GGUFReader, writer: Any, said: Mapping[str, str]) -> None:
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key in _OWN_KEYS or key in said:
            continue
        kind, *inner = field.types
        writer.add_key_value(key, field.contents(), kind, inner[-1] if inner else None)
    for key, value in said.items():
        writer.add_string(key, value)


def _is_smaller(tensor: ReaderTensor) -> bool:
    from gguf import GGMLQuantizationType

    return tensor.tensor_type != GGMLQuantizationType.F32


def _kind(tensor: ReaderTensor, quantization: str, *, is_mixed: bool) -> GGMLQuantizationType:
    """Stores norms and biases in float32, as llama.cpp's converter does, and other float32 tensors
    of a quantised file, such as routers."""
    from gguf import GGMLQuantizationType

    if not _is_smaller(tensor) and (is_mixed or len(tensor.shape) < 2):
        return GGMLQuantizationType.F32
    # GGUF lists dimensions innermost first.
    if quantization == "Q8_0" and int(tensor.shape[0]) % _Q8_0_BLOCK == 0:
        return GGMLQuantizationType.Q8_0
    return GGMLQuantizationType.F16


def _announce(writer: Any, tensor: ReaderTensor, kind: GGMLQuantizationType) -> None:
    from gguf import GGMLQuantizationType, quant_shape_to_byte_shape

    # Numpy lists dimensions outermost first.
    shape = tuple(int(size) for size in reversed(tensor.shape))
    if kind == GGMLQuantizationType.Q8_0:
        stored, dtype = quant_shape_to_byte_shape(shape, kind), np.dtype(np.uint8)
    else:
        stored, dtype = shape, np.dtype(_dtype(kind))
    size = int(np.prod(stored)) * dtype.itemsize
    writer.add_tensor_info(tensor.name, stored, dtype, size, kind)


def _stored(values: NDArray[np.float32], kind: GGMLQuantizationType) -> NDArray[Any]:
    from gguf import GGMLQuantizationType, quantize

    if kind == GGMLQuantizationType.Q8_0:
        return quantize(values, kind)
    return np.ascontiguousarray(values, dtype=_dtype(kind))


def _dtype(kind: GGMLQuantizationType) -> type[np.float16 | np.float32]:
    from gguf import GGMLQuantizationType

    return np.float16 if kind == GGMLQuantizationType.F16 else np.float32
