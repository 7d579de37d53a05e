import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type ValidateReport,
  type ValidateSpec,
  validateReport,
} from '@bakehouse/contract/runtime/train-spec';
import { hasLayer } from '../../engine/machine/environment.ts';
import { ProgramFailed, runProgram } from '../../engine/machine/run-program.ts';
import { runtimeCommand } from '../../engine/machine/runtime-command.ts';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { BlobStore } from '../../platform/storage/blob-store.ts';

type File = { path: string; sha256: string };

/** A data file, and the model and settings that it is read for. */
export type DataToRead = {
  base: File[];
  dataFile: File;
  spec: Omit<ValidateSpec, 'base_model_dir' | 'data_file'>;
};

/** Reads a data file as training would. Tests put a function in its place. */
export type ReadData = (
  ctx: Pick<Context, 'config' | 'blobs' | 'caller'>,
  input: DataToRead,
) => Promise<ValidateReport>;

const TIME_LIMIT_MS = 120_000;

/**
 * Runs the runtime's `validate` on the files. What makes the run impossible stands in the report;
 * a program that fails otherwise is an error. Throws AppError('unavailable') while the Python
 * environment is not there.
 */
export const readData: ReadData = async (ctx, input) => {
  if (!(await hasLayer(ctx.config, 'training'))) {
    throw new AppError('unavailable', {
      publicMessage:
        'The Python environment for training is still being prepared. Please try again in a few minutes.',
    });
  }
  return inFolder((folder) => validateIn(folder, ctx, input));
};

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bakehouse-validate-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function validateIn(
  folder: string,
  { config, blobs }: Pick<Context, 'config' | 'blobs'>,
  { base, dataFile, spec }: DataToRead,
): Promise<ValidateReport> {
  const baseDir = path.join(folder, 'base_model');
  for (const file of base) await link(blobs, file, baseDir);
  await link(blobs, dataFile, path.join(folder, 'dataset'));
  const full: ValidateSpec = {
    ...spec,
    base_model_dir: baseDir,
    data_file: path.join(folder, 'dataset', dataFile.path),
  };
  const specFile = path.join(folder, 'spec.json');
  await writeFile(specFile, JSON.stringify(full));

  const { command, args, env } = await runtimeCommand(config);
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    const output = await runProgram(command, [...args, 'validate', specFile], { env, signal });
    const json = output.findLast((line) => line.startsWith('{'));
    return validateReport.parse(JSON.parse(json ?? ''));
  } catch (error) {
    if (signal.aborted) return impossible(`Reading ${spec.data.file_path} took longer than two minutes.`);
    const said = error instanceof ProgramFailed && !error.output.some((line) => line.startsWith('Traceback'));
    if (said) return impossible(error.output.at(-1) ?? 'The file cannot be read.');
    throw error;
  }
}

async function link(blobs: BlobStore, file: File, folder: string): Promise<void> {
  const target = path.join(folder, file.path);
  await mkdir(path.dirname(target), { recursive: true });
  await symlink(await blobs.localPath(file.sha256), target);
}

/** A report that says only why there is nothing to report. */
function impossible(reason: string): ValidateReport {
  return {
    columns: [],
    rows_total: 0,
    rows_kept: 0,
    rows_dropped: 0,
    dropped: [],
    rows_truncated: 0,
    train_tokens: 0,
    eval_tokens: 0,
    train_examples: 0,
    eval_examples: 0,
    steps_total: 0,
    token_histogram: [],
    samples: [],
    base_parameters: 0,
    trainable_parameters: 0,
    memory_bytes: 0,
    gpu_memory_bytes: 0,
    tied_embeddings: false,
    critical_errors: [reason],
    warnings: [],
  };
}
