-- On a machine with NVIDIA GPUs vLLM is prepared too.
alter type preparation_id add value 'vllm';
