/**
 * A Python environment grows in layers, each installed from one complete lock file and a superset of the
 * previous layer: chat works long before PyTorch is installed, and 4-bit training is added on machines with a
 * GPU. vLLM has its own environment because each release pins a PyTorch; so have the API clients and the S3
 * server used by tests.
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

/** Returns the environment of a layer. */
export function environmentOf(layer: Layer): Environment {
  return layer === 'vllm' || layer === 'clients' || layer === 's3' ? layer : 'python';
}

const GB = 1_000_000_000;

type Platform = { platform: NodeJS.Platform; torchIndex?: string | undefined };

/**
 * Disk space of a complete layer, measured with its bytecode and rounded up. On Linux, most of it is the CUDA
 * libraries of PyPI's torch.
 */
export function bytesNeeded(layer: Layer, { platform, torchIndex }: Platform): number {
  if (layer === 'serving') return 0.6 * GB;
  if (layer === 'vllm') return 9 * GB;
  if (layer === 'clients') return 0.6 * GB;
  if (layer === 's3') return 0.2 * GB;
  // Counts only what this layer adds, because the previous layer is always installed first.
  if (layer === 'gpu-training') return 0.3 * GB;
  return platform === 'linux' && torchIndex === undefined ? 6.5 * GB : 2.5 * GB;
}

/** Returns null if there is enough disk space for the layer, otherwise a sentence with instructions. */
export function explainFullDisk(
  layer: Layer,
  folder: string,
  freeBytes: number,
  neededBytes: number,
): string | null {
  if (freeBytes >= neededBytes) return null;
  const gb = (bytes: number) => `${(bytes / GB).toFixed(1)} GB`;
  return (
    `The Python packages for ${layer === 'vllm' ? 'vLLM' : layer} need ${gb(neededBytes)} in ${folder}, where ${gb(freeBytes)} are free. ` +
    'Free some space, or set BAKEHOUSE_CACHE_DIR to another folder.'
  );
}

/** Packages from BAKEHOUSE_TORCH_INDEX if it is set, or required only by PyPI's build of torch. */
const torchFamily = /^(torch|triton|nvidia-[a-z0-9-]+|cuda-[a-z0-9-]+)==/;

/** Splits a lock file into PyTorch's pin ('torch==2.15.0') and the lines without it and CUDA libraries. */
export function splitTorch(lock: string): { rest: string; torch: string | null } {
  const rest: string[] = [];
  let torch: string | null = null;
  let dropping = false;
  for (const line of lock.split('\n')) {
    // A pin starts a line; its hashes and comments follow, indented.
    if (!line.startsWith(' ')) dropping = torchFamily.test(line);
    if (line.startsWith('torch==')) torch = line.split(/[\s;]/)[0] ?? null;
    if (!dropping) rest.push(line);
  }
  return { rest: rest.join('\n'), torch };
}
