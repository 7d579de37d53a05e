"""llama.cpp's own OpenAI server, inside this process: no torch, ready in half a second."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from ..data.templates.plain_template import plain_template
from ..data.templates.tool_template import add_tools, says_tools
from ..errors import PlainError
from .engine import CLOSE_S, gauge_sum, read_metrics
from .gguf_metadata import chat_template, context_length
from .sampling_defaults import default_sampling

if TYPE_CHECKING:
    import xllamacpp

    from ..protocol import ServeEmbeddingSpec, ServeTextSpec, ServeTextSpecAdapter

# The loop answers between two batches: a long prompt is read in parts, and others' tokens and short
# prompts come between them. On a CPU 512 at once are read 2% faster a token, and 32 12% slower.
_BATCH_TOKENS = 64


class LlamaCpp:
    """Serves one GGUF base with its adapters, all at scale 0 until a request chooses one."""

    def __init__(
        self, spec: ServeTextSpec | ServeEmbeddingSpec, params: xllamacpp.CommonParams
    ) -> None:
        """Loads the model and starts to answer. Raises PlainError when it cannot be loaded."""
        import xllamacpp

        try:
            server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise PlainError(f"llama.cpp cannot load {spec.model_name}: {error}.") from error
        self._server: xllamacpp.Server | None = server
        self._api_key = spec.api_key
        self.base_url = server.listening_address

    def ended(self) -> str | None:
        """It runs as long as this process does."""
        return None if self._server is not None else "The model server was closed."

    def in_flight(self) -> int | None:
        """Requests being answered or waiting for a slot. The loop that computes reports
        them between two batches."""
        return gauge_sum(
            lambda: read_metrics(self.base_url, self._api_key),
            ("llamacpp:requests_processing", "llamacpp:requests_deferred"),
        )

    def advances(self) -> bool:
        """Whether the metrics answer: they come from the loop that does all the work."""
        try:
            read_metrics(self.base_url, self._api_key)
        except httpx.HTTPError:
            return False
        return True

    def close(self) -> None:
        """Ends the server's threads. Where one hangs, this process ends with it: nothing else can
        end a thread, and the interpreter's lock may be held meanwhile."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(CLOSE_S)
        self._server = None
        signal.alarm(0)


def server_params(spec: ServeTextSpec, inputs: dict[str, Path]) -> xllamacpp.CommonParams:
    """llama.cpp's parameters for a spec."""
    import xllamacpp

    model = _file(inputs, "base_model", spec.model_file)
    params = _shared_params(spec, model)
    if (template := _template(model)) is not None:
        params.chat_template = template
    # Beyond what it was made to read a model writes nonsense.
    context = min(spec.context_tokens, context_length(model) or spec.context_tokens)
    # llama.cpp divides its context among the slots.
    params.n_ctx = context * spec.parallel_requests
    params.n_batch = _BATCH_TOKENS
    # Prompts of other slots are not kept aside: that store does not know with which adapter its
    # prompts were read.
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
    """The same for a model that answers with vectors: pooled as its file says, and of length 1."""
    model = _file(inputs, "base_model", spec.model_file)
    params = _shared_params(spec, model)
    context = min(spec.context_tokens, context_length(model) or spec.context_tokens)
    params.embedding = True
    params.embd_normalize = 2
    params.n_ctx = context * spec.parallel_requests
    # Where each token looks at all others, a text is read in one piece.
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
    # Each connection that is kept open has a thread: several web processes keep some each, and the
    # watch over the server needs one.
    params.n_threads_http = 8 * spec.parallel_requests
    params.cpuparams.n_threads = spec.threads
    params.cpuparams_batch.n_threads = spec.threads
    # Keeps the sizes asked for instead of fitting them to the free memory.
    params.fit_params = False
    params.endpoint_metrics = True
    params.ui = False
    # No page in a browser on this machine may read what it answers: no origin is called so.
    params.cors_origins = "none"
    return params


def _template(model: Path) -> str | None:
    """The chat template where the model's own does not do: it has none, or no words for tools."""
    try:
        own = chat_template(model)
    except ValueError:
        # llama.cpp says what is wrong with it when it loads it.
        return None
    if own is None:
        return add_tools(plain_template(begins=False))
    return None if says_tools(own) else add_tools(own)


def _set_sampling(params: xllamacpp.CommonParams, said: dict[str, float]) -> None:
    """llama.cpp's own defaults are others than vLLM's: the same request would be answered in
    another manner."""
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
    # Its libraries take seconds to load, which no adapter of our own needs.
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
