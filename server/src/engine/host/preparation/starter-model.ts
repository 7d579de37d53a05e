import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '../../../platform/errors.ts';
import { runProgram } from '../../../platform/processes/run-program.ts';
import type { OnProgress } from '../environment/ensure-layer.ts';
import { type EnvironmentSettings, runtimeDir } from '../environment/environment.ts';
import { explainFailure } from '../environment/explain-failure.ts';
import { withFileLock } from '../environment/file-lock.ts';
import { runtimeCommand } from '../runtime-command.ts';

/** A file of the starter model: its path in the model, and where it lies on this machine. */
export type StarterFile = { path: string; localPath: string };

/**
 * Makes the files a model that everybody may use. The same files are the same revision, others a
 * new one. The module that owns assets provides it.
 */
export type RegisterStarterModel = (files: StarterFile[]) => Promise<unknown>;

export type Format = 'gguf' | 'safetensors';

/** What the runtime prepares: the name that it knows, and its program. */
const starters = { language: ['smollm2', 'prepare.py'], embedding: ['minilm', 'prepare_minilm.py'] } as const;
export type PreparedStarter = keyof typeof starters;

/** The folder of a starter model's files, named after what they are made with. */
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
 * Writes the starter model in one format, unless it is there, and lists the files that there are now.
 * 'gguf' needs the layer 'serving', and so does the embedding model; 'safetensors' the layer 'training'.
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
    throw new AppError('unavailable', {
      publicMessage: explainFailure(`The starter ${starter} model`, error, settings.cacheDir),
      cause: error,
    });
  }
  return listFiles(dir);
}

/** One line of the runtime's `prepare`; null for what is not progress, and for the last word. */
export function readProgressLine(line: string): { detail: string; progress: number } | null {
  if (!line.startsWith('{')) return null;
  const { phase, done, total } = JSON.parse(line) as { phase: string; done: number; total: number };
  if (phase === 'done') return null;
  return { detail: `${phase[0]?.toUpperCase()}${phase.slice(1)}`, progress: total > 0 ? done / total : 0 };
}

/** The files in the folder now; serving reads the GGUF from a separate folder. */
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
