/**
 * A Python environment grows in layers, each the whole of one lock file and a superset of the one
 * before: chat answers long before PyTorch has arrived, and what trains in 4 bits comes where there is a GPU. vLLM has an environment of
 * its own, since each release of it pins a PyTorch; so have the clients that tests call the server with, and the S3 server that they store
 * files in.
 */
export const environments = {
  python: ['serving', 'training', 'gpu-training', 'tests'],
  vllm: ['vllm'],
  clients: ['clients'],
  s3: ['s3'],
} as const;
export type Environment = keyof typeof environments;
export type Layer = (typeof environments)[Environment][number];

/** The lock file of each layer. */
export const lockFiles: Record<Layer, string> = {
  serving: 'requirements-serve.lock',
  training: 'requirements.lock',
  'gpu-training': 'requirements-gpu.lock',
  tests: 'requirements-dev.lock',
  vllm: 'requirements-vllm.lock',
  clients: 'requirements-clients.lock',
  s3: 'requirements-s3.lock',
};

/** The environment that a layer belongs to. */
export function environmentOf(layer: Layer): Environment {
  return layer === 'vllm' || layer === 'clients' || layer === 's3' ? layer : 'python';
}

const GB = 1_000_000_000;

type Platform = { platform: NodeJS.Platform; torchIndex?: string | undefined };

/**
 * Bytes that a layer takes on disk when nothing of it is there yet, measured with its bytecode and rounded up.
 * PyPI's torch brings its CUDA libraries on Linux, which are most of it.
 */
export function bytesNeeded(layer: Layer, { platform, torchIndex }: Platform): number {
  if (layer === 'serving') return 0.6 * GB;
  if (layer === 'vllm') return 9 * GB;
  if (layer === 'clients') return 0.6 * GB;
  if (layer === 's3') return 0.2 * GB;
  // What it adds to the layer before, after which alone it comes.
  if (layer === 'gpu-training') return 0.3 * GB;
  return platform === 'linux' && torchIndex === undefined ? 6.5 * GB : 2.5 * GB;
}

/** Null if the layer fits; else the sentence that says what to do. */
export function refuseFullDisk(
  layer: Layer,
  folder: string,
  freeBytes: number,
  neededBytes: number,
): string | null {
  if (freeBytes >= neededBytes) return null;
  const gb = (bytes: number) => `${(bytes / GB).toFixed(1)} GB`;
  return (
    `The Python packages for ${layer === 'vllm' ? 'vLLM' : layer} need ${gb(neededBytes)} in ${folder}, where ${gb(freeBytes)} are free. ` +
    'Make room, or name another folder in BAKEHOUSE_CACHE_DIR.'
  );
}

/** Packages that come from BAKEHOUSE_TORCH_INDEX where it is set, or that only PyPI's build of torch needs. */
const torchFamily = /^(torch|triton|nvidia-[a-z0-9-]+|cuda-[a-z0-9-]+)==/;

/** A lock file without PyTorch and its CUDA libraries, and the pin of PyTorch itself (e.g. 'torch==2.15.0'). */
export function splitTorch(lock: string): { rest: string; torch: string | null } {
  const rest: string[] = [];
  let torch: string | null = null;
  let dropping = false;
  for (const line of lock.split('\n')) {
    // A pin stands at the start of a line; its hashes and comments follow, indented.
    if (!line.startsWith(' ')) dropping = torchFamily.test(line);
    if (line.startsWith('torch==')) torch = line.split(/[\s;]/)[0] ?? null;
    if (!dropping) rest.push(line);
  }
  return { rest: rest.join('\n'), torch };
}
