"""The part of xllamacpp that Bakehouse uses; the package is compiled and brings no types."""

class CpuParams:
    n_threads: int

class CommonParamsModel:
    path: str

class CommonAdapterLoraInfo:
    path: str
    scale: float

class CommonParamsSampling:
    temp: float
    top_p: float
    top_k: int
    min_p: float
    penalty_repeat: float

class CommonParams:
    model: CommonParamsModel
    sampling: CommonParamsSampling
    model_alias: set[str]
    hostnames: list[str]
    api_keys: list[str]
    cors_origins: str
    port: int
    n_parallel: int
    n_batch: int
    n_ubatch: int
    embedding: bool
    embd_normalize: int
    n_threads_http: int
    n_ctx: int
    n_gpu_layers: int
    cpuparams: CpuParams
    cpuparams_batch: CpuParams
    fit_params: bool
    endpoint_metrics: bool
    ui: bool
    cache_ram_mib: int
    chat_template: str
    lora_init_without_apply: bool
    lora_adapters: list[CommonAdapterLoraInfo]

class Server:
    def __init__(self, params: CommonParams) -> None: ...
    @property
    def listening_address(self) -> str: ...
