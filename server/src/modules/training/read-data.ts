import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type ValidateReport,
  type ValidateSpec,
  validateReport,
} from '@bakehouse/contract/runtime/train-spec';
import { hasLayer } from '../../engine/machine/environment.ts';
import { ProgramFailed, runProgram } from '../../engine/machine/run-program.ts';
import { apartAtLowPriority, runtimeCommand } from '../../engine/machine/runtime-command.ts';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { lendFiles } from '../../platform/walls/lend-files.ts';

type File = { path: string; sha256: string };

/** A data file, and the model and settings that it is read for. */
export type DataToRead = {
  base: File[];
  dataFile: File;
  spec: Omit<ValidateSpec, 'base_model_dir' | 'data_file'>;
};

/** Reads a data file as training would, until the signal aborts. Tests put a function in its place. */
export type ReadData = (
  ctx: Pick<Context, 'config' | 'blobs' | 'caller' | 'wall'>,
  input: DataToRead,
  signal?: AbortSignal,
) => Promise<ValidateReport>;

const TIME_LIMIT_MS = 120_000;
/** Folders of the files that are read, for their names may be the same. */
const BASE_MODEL = 'base_model';
const DATASET = 'dataset';

/**
 * Runs the runtime's `validate` on the files. What makes the run impossible stands in the report; a
 * program that writes none is an error, which says nothing of the file. Throws
 * AppError('invalid_request') when the time is over: reading it again would take as long; and
 * AppError('unavailable') while the Python environment is not there, or when the program was killed.
 */
export const readData = dataReader(TIME_LIMIT_MS);

/** A reader with another time limit, for tests. */
export function dataReader(limitMs: number): ReadData {
  return async (ctx, input, gone) => {
    if (!(await hasLayer(ctx.config, 'training'))) {
      throw new AppError('unavailable', {
        publicMessage:
          'The Python environment for training is still being prepared. Please try again in a few minutes.',
      });
    }
    const lend = async (file: File, folder: string) => ({
      localPath: await ctx.blobs.localPath(file.sha256),
      as: path.join(folder, file.path),
    });
    const files = await Promise.all([
      ...input.base.map((file) => lend(file, BASE_MODEL)),
      lend(input.dataFile, DATASET),
    ]);
    return lendFiles(ctx.wall, files, (lent) => validateIn(lent, ctx, input, limitMs, gone));
  };
}

async function validateIn(
  { folder, user }: { folder: string; user: number },
  { config, wall }: Pick<Context, 'config' | 'wall'>,
  { dataFile, spec }: DataToRead,
  limitMs: number,
  gone: AbortSignal | undefined,
): Promise<ValidateReport> {
  const full: ValidateSpec = {
    ...spec,
    base_model_dir: path.join(folder, BASE_MODEL),
    data_file: path.join(folder, DATASET, dataFile.path),
  };
  const specFile = path.join(folder, 'spec.json');
  await writeFile(specFile, JSON.stringify(full));
  const runtime = await runtimeCommand(config);
  const enclosed = await wall.enclose({
    argv: [runtime.command, ...runtime.args, 'validate', specFile],
    cwd: folder,
    reads: [...runtime.reads, folder],
    writes: [],
    user,
  });
  const [command = '', ...args] = [...apartAtLowPriority, ...enclosed];
  const tooLong = AbortSignal.timeout(limitMs);
  const signal = gone ? AbortSignal.any([tooLong, gone]) : tooLong;
  try {
    const output = await runProgram(command, args, { env: runtime.env, signal });
    const json = output.findLast((line) => line.startsWith('{'));
    return validateReport.parse(JSON.parse(json ?? ''));
  } catch (error) {
    const file = spec.data.file_path;
    gone?.throwIfAborted();
    if (tooLong.aborted) {
      throw new AppError('invalid_request', {
        publicMessage: `Reading ${file} takes longer than ${limitMs / 60_000} minutes, which is too long to prepare a run. Use fewer rows, or split the file.`,
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
  }
}
