import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type ValidateProgress,
  type ValidateReport,
  type ValidateSpec,
  validateProgress,
  validateReport,
} from '@bakehouse/contract/runtime/train-spec';
import { hasLayer } from '../../../engine/host/environment/has-layer.ts';
import { runtimeCommand } from '../../../engine/host/runtime-command.ts';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { ProgramFailed, runProgram } from '../../../platform/processes/run-program.ts';
import { shareFiles } from '../../../platform/sandbox/share-files.ts';
import { withBlobFiles } from '../../../platform/storage/with-blob-file.ts';
import { readingLimits } from '../readings/limits.ts';

type File = { path: string; sha256: string };

/** A data file, and the model and settings that it is read for. */
export type DataToRead = {
  base: File[];
  dataFile: File;
  spec: Omit<ValidateSpec, 'base_model_dir' | 'data_file'>;
};

type Options = {
  /** Aborting it ends the reading. */
  signal?: AbortSignal;
  /** Called now and then while a long file is read. */
  onProgress?: (progress: ValidateProgress) => void;
};

/** Reads a data file as training would. Tests put a function in its place. */
export type ReadData = (
  ctx: Pick<Context, 'blobs' | 'caller' | 'clock' | 'config' | 'db' | 'log' | 'sandbox'>,
  input: DataToRead,
  options?: Options,
) => Promise<ValidateReport>;

/** Folders of the files that are read, for their names may be the same. */
const BASE_MODEL = 'base_model';
const DATASET = 'dataset';

/**
 * Runs the runtime's `validate` on the files. What makes the run impossible stands in the report; a
 * program that writes none is an error, which says nothing of the file. Throws
 * AppError('invalid_request') when it gets no further: reading it again would end there too; and
 * AppError('unavailable') while the Python environment is not there, or when the program was killed; and what
 * `withBlobFile` throws where the bytes are damaged.
 */
export const readData = dataReader();

/** A reader with another limit, for tests. */
export function dataReader(stallMs: number = readingLimits.stallMs): ReadData {
  return async (ctx, input, options = {}) => {
    if (!(await hasLayer(ctx.config, 'training'))) {
      throw new AppError('unavailable', {
        publicMessage:
          'The Python environment for training is still being prepared. Please try again in a few minutes.',
      });
    }
    const files = [
      ...input.base.map((file) => ({ ...file, folder: BASE_MODEL })),
      { ...input.dataFile, folder: DATASET },
    ];
    return withBlobFiles(ctx, files, (localPaths) => {
      const lent = files.map((file, at) => ({
        localPath: localPaths[at] ?? '',
        as: path.join(file.folder, file.path),
      }));
      return shareFiles(ctx.sandbox, lent, (place) => validateIn(place, ctx, input, stallMs, options));
    });
  };
}

async function validateIn(
  { folder, user }: { folder: string; user: number },
  { config, sandbox }: Pick<Context, 'config' | 'sandbox'>,
  { dataFile, spec }: DataToRead,
  stallMs: number,
  { signal: gone, onProgress }: Options,
): Promise<ValidateReport> {
  const full: ValidateSpec = {
    ...spec,
    base_model_dir: path.join(folder, BASE_MODEL),
    data_file: path.join(folder, DATASET, dataFile.path),
  };
  const specFile = path.join(folder, 'spec.json');
  await writeFile(specFile, JSON.stringify(full));
  const runtime = await runtimeCommand(config);
  const enclosed = await sandbox.enclose({
    argv: [runtime.command, ...runtime.args, 'validate', specFile],
    cwd: folder,
    reads: [...runtime.reads, folder],
    writes: [],
    user,
  });
  // It gives way by itself once it has printed its first estimate.
  const [command = '', ...args] = enclosed;
  const stalled = new AbortController();
  const giveUp = setTimeout(() => stalled.abort(), stallMs);
  const signal = gone ? AbortSignal.any([stalled.signal, gone]) : stalled.signal;
  let last: unknown;
  const onLine = (line: string) => {
    if (!line.startsWith('{')) return;
    giveUp.refresh();
    last = JSON.parse(line);
    const progress = validateProgress.safeParse(last);
    if (progress.success) onProgress?.(progress.data);
  };
  try {
    await runProgram(command, args, { env: runtime.env, signal, onLine });
    return validateReport.parse(last);
  } catch (error) {
    const file = spec.data.file_path;
    gone?.throwIfAborted();
    if (stalled.signal.aborted) {
      throw new AppError('invalid_request', {
        publicMessage: `Reading ${file} stopped getting any further. Use shorter texts, or a base model with a simpler chat template.`,
        param: 'file_name',
        cause: error,
      });
    }
    if (error instanceof ProgramFailed && typeof error.status === 'string') {
      throw new AppError('unavailable', {
        publicMessage: `Reading ${file} was interrupted: this machine may be short of memory. Please try again later, or with a smaller file.`,
        cause: error,
      });
    }
    throw error;
  } finally {
    clearTimeout(giveUp);
  }
}
