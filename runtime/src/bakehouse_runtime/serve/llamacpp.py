"""llama.cpp's own OpenAI server, inside this process: no torch, ready in half a second."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from ..data.templates.plain_template import plain_template
from ..data.templates.tool_template import add_tools, renders_tools
from ..errors import PlainError
from .engine import CLOSE_S, gauge_sum, read_metrics
from .gguf_metadata import chat_template, context_length
from .sampling_defaults import default_sampling

if TYPE_CHECKING:
    import xllamacpp

    from ..protocol import ServeEmbeddingSpec, ServeTextSpec, ServeTextSpecAdapter

# The server loop handles other work between two batches: a long prompt is read in parts,
# interleaved with other requests. On a CPU, batches of 512 read 2 % faster per token, and batches
# of 32 read 12 % slower.
_BATCH_TOKENS = 64
# Some models read all tokens of a picture at once (Gemma 3: 256), so these must fit into one batch.
_PICTURE_BATCH_TOKENS = 512
# Limits models that read a picture in its own size: on a CPU, each token takes milliseconds.
_PICTURE_TOKENS_MAX = 1024


class LlamaCpp:
    """Serves one GGUF base with its adapters, all at scale 0 until a request chooses one."""

    def __init__(
        self, spec: ServeTextSpec | ServeEmbeddingSpec, params: xllamacpp.CommonParams
    ) -> None:
        """Loads the model and starts to answer. Raises PlainError if it cannot be loaded."""
        import xllamacpp

        try:
            server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise PlainError(f"llama.cpp cannot load {spec.model_name}: {error}.") from error
        self._server: xllamacpp.Server | None = server
        self._api_key = spec.api_key
        self.base_url = server.listening_address

    def ended(self) -> str | None:
        """Returns None while open: it runs as long as this process."""
        return None if self._server is not None else "The model server was closed."

    def in_flight(self) -> int | None:
        """Returns the number of running or queued requests. The computing loop reports them between
        two batches."""
        return gauge_sum(
            lambda: read_metrics(self.base_url, self._api_key),
            ("llamacpp:requests_processing", "llamacpp:requests_deferred"),
        )

    def advances(self) -> bool:
        """Returns whether the metrics respond: the loop that does all the work serves them."""
        try:
            read_metrics(self.base_url, self._api_key)
        except httpx.HTTPError:
            return False
        return True

    def close(self) -> None:
        """Ends the server's threads. If one hangs, an alarm ends this process: a thread cannot be
        killed, and it may hold the interpreter lock."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(CLOSE_S)
        self._server = None
        signal.alarm(0)


def server_params(spec: ServeTextSpec, inputs: dict[str, Path]) -> xllamacpp.CommonParams:
    """Returns llama.cpp's parameters for a spec."""
    import xllamacpp

    model = _file(inputs, "base_model", spec.model_file)
    params = _shared_params(spec, model)
    if (template := _template(model)) is not None:
        params.chat_template = template
    # Beyond its trained context a model produces nonsense.
    context = min(spec.context_tokens, context_length(model) or spec.context_tokens)
    # llama.cpp divides its context among the slots.
    params.n_ctx = context * spec.parallel_requests
    params.n_batch = _BATCH_TOKENS
    if spec.projector_file:
        # The library's type stubs lack these fields.
        pictures: Any = params
        pictures.mmproj.path = str(_file(inputs, "base_model", spec.projector_file))
        pictures.mmproj_use_gpu = False
        pictures.image_max_tokens = _PICTURE_TOKENS_MAX
        params.n_batch = _PICTURE_BATCH_TOKENS
    # No prompt cache across slots: it ignores which adapter the prompts were read with.
    params.cache_ram_mib = 0
    _set_sampling(params, default_sampling(inputs["base_model"]))
    params.lora_init_without_apply = True
    adapters = []
    for adapter in spec.adapters:
        info = xllamacpp.CommonAdapterLoraInfo()
        info.path = str(_adapter_file(spec, inputs, adapter))
        info.scale = 1.0
        adapters.append(info)
    params.lora_adapters = adapters
    return params


def embedding_params(spec: ServeEmbeddingSpec, inputs: dict[str, Path]) -> xllamacpp.CommonParams:
    """Returns the parameters for an embedding model: pooled as its file specifies, normalised to
    length 1."""
    model = _file(inputs, "base_model", spec.model_file)
    params = _shared_params(spec, model)
    context = min(spec.context_tokens, context_length(model) or spec.context_tokens)
    params.embedding = True
    params.embd_normalize = 2
    params.n_ctx = context * spec.parallel_requests
    # With bidirectional attention, a text must be read in one batch.
    params.n_batch = context
    params.n_ubatch = context
    params.cache_ram_mib = 0
    return params


def _shared_params(spec: ServeTextSpec | ServeEmbeddingSpec, model: Path) -> xllamacpp.CommonParams:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {spec.model_name}
    params.hostnames = [spec.host]
    params.port = spec.port
    params.api_keys = [spec.api_key]
    params.n_parallel = spec.parallel_requests
    # Each open connection needs a thread: several web processes hold some, and the watchdog needs
    # one.
    params.n_threads_http = 8 * spec.parallel_requests
    params.cpuparams.n_threads = spec.threads
    params.cpuparams_batch.n_threads = spec.threads
    # Use the requested sizes; by default llama.cpp adjusts them to the free memory.
    params.fit_params = False
    params.endpoint_metrics = True
    params.ui = False
    # An origin that no page can have, so that no page in a browser on this machine can read
    # responses.
    params.cors_origins = "none"
    return params


def _template(model: Path) -> str | None:
    """Returns a chat template if the model has none, or one without tool support."""
    try:
        own = chat_template(model)
    except ValueError:
        # llama.cpp reports the fault when it loads the file.
        return None
    if own is None:
        return add_tools(plain_template(begins=False))
    return None if renders_tools(own) else add_tools(own)


def _set_sampling(params: xllamacpp.CommonParams, said: dict[str, float]) -> None:
    """llama.cpp's defaults differ from vLLM's; without this the engines would answer the same
    request differently."""
    sampling = params.sampling
    sampling.temp = said["temperature"]
    sampling.top_p = said["top_p"]
    sampling.top_k = int(said["top_k"])
    sampling.min_p = said["min_p"]
    sampling.penalty_repeat = said["repetition_penalty"]


def _adapter_file(
    spec: ServeTextSpec, inputs: dict[str, Path], adapter: ServeTextSpecAdapter
) -> Path:
    if adapter.file:
        return _file(inputs, adapter.input, adapter.file)
    # Converted only if needed, because the libraries take seconds to load.
    from .convert_adapter import convert_adapter

    converted = Path(spec.work_dir) / f"{adapter.name}.gguf"
    convert_adapter(inputs[adapter.input], inputs["base_model"], converted)
    return converted


def _file(inputs: dict[str, Path], name: str, file: str) -> Path:
    folder = inputs.get(name)
    if folder is None:
        raise PlainError(f"The spec has no input {name}.")
    path = folder / file
    if not file or not path.is_file():
        raise PlainError(f"The input {name} has no file {file or '(unnamed)'}.")
    return path
