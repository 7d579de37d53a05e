import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { unavailable } from '../../../platform/errors.ts';
import { runProgram } from '../../../platform/processes/run-program.ts';
import type { OnProgress } from '../environment/ensure-layer.ts';
import { type EnvironmentSettings, explainFailure, runtimeDir } from '../environment/environment.ts';
import { withFileLock } from '../environment/file-lock.ts';
import { runtimeCommand } from '../runtime-command.ts';

/** A file of the starter model: its path in the model, and its path on this machine. */
export type StarterFile = { path: string; localPath: string };

/** Registers the files as a public model, idempotently. Provided by the module that owns assets. */
export type RegisterStarterModel = (files: StarterFile[]) => Promise<unknown>;

export type Format = 'gguf' | 'safetensors';

/** Starters prepared by the runtime: the name and the program of each. */
const starters = { language: ['smollm2', 'prepare.py'], embedding: ['minilm', 'prepare_minilm.py'] } as const;
export type PreparedStarter = keyof typeof starters;

/** Returns the folder of a starter model's files, named after the inputs they are built from. */
export async function starterModelDir(
  { cacheDir }: EnvironmentSettings,
  starter: PreparedStarter = 'language',
): Promise<string> {
  const [name, program] = starters[starter];
  const hash = createHash('sha256');
  for (const source of ['requirements.lock', `src/bakehouse_runtime/${program}`]) {
    hash.update(await readFile(path.join(runtimeDir, source)));
  }
  return path.join(cacheDir, 'models', `${name}-${hash.digest('hex').slice(0, 16)}`);
}

/**
 * Creates the starter model in one format unless it exists, and returns its files. Requires the layer
 * 'serving' for 'gguf' and the embedding model, and 'training' for 'safetensors'.
 */
export async function ensureStarterModel(
  settings: EnvironmentSettings,
  format: Format,
  onProgress: OnProgress,
  signal?: AbortSignal,
  starter: PreparedStarter = 'language',
): Promise<StarterFile[]> {
  const dir = await starterModelDir(settings, starter);
  await mkdir(dir, { recursive: true });
  const { command, args, env } = await runtimeCommand(settings);
  const prepare = () =>
    runProgram(command, [...args, 'prepare', starters[starter][0], '--format', format, '--out', dir], {
      env,
      signal,
      onLine: (line) => {
        const update = readProgressLine(line);
        if (update) onProgress(update.detail, update.progress);
      },
    });
  try {
    await withFileLock(`${dir}.lock`, prepare, { signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unavailable(explainFailure(`The starter ${starter} model`, error, settings.cacheDir), {
      cause: error,
    });
  }
  return listFiles(dir);
}

/** Parses one line of the runtime's `prepare`; null if it is not progress. */
export function readProgressLine(line: string): { detail: string; progress: number } | null {
  if (!line.startsWith('{')) return null;
  const { phase, done, total } = JSON.parse(line) as { phase: string; done: number; total: number };
  if (phase === 'done') return null;
  return { detail: `${phase[0]?.toUpperCase()}${phase.slice(1)}`, progress: total > 0 ? done / total : 0 };
}

/** Files in the folder; the GGUF is in a separate folder for serving. */
async function listFiles(dir: string): Promise<StarterFile[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted()
    .map((localPath) => ({
      path: localPath.endsWith('.gguf')
        ? 'gguf/model-f16.gguf'
        : path.relative(dir, localPath).split(path.sep).join('/'),
      localPath,
    }));
}
