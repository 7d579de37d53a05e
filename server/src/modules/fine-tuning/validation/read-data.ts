import path from 'node:path';
import {
  type ValidateProgress,
  type ValidateReport,
  type ValidateSpec,
  validateProgress,
  validateReport,
} from '@bakehouse/contract/runtime/train-spec';
import { hasLayer } from '../../../engine/host/environment/environment.ts';
import type { Context } from '../../../platform/context.ts';
import { pythonNotReady } from '../../../platform/errors.ts';
import { shareFiles } from '../../../platform/sandbox/share-files.ts';
import { withBlobFiles } from '../../../platform/storage/read-blob.ts';
import { readingLimits } from '../readings/limits.ts';
import { runReader } from './run-reader.ts';

type File = { path: string; sha256: string };

/** A data file, and the model and settings for reading it. */
export type DataToRead = {
  base: File[];
  dataFile: File;
  /** A separate held-out file; null if part of the data file is held out. */
  validationFile: File | null;
  spec: Omit<ValidateSpec, 'base_model_dir' | 'data_file' | 'validation_file'>;
};

type Options = {
  /** Aborted if the caller disconnects. */
  signal?: AbortSignal;
  /** Called periodically while a long file is read. */
  onProgress?: (progress: ValidateProgress) => void;
};

/** Reads a data file as training would. Tests use another implementation. */
export type ReadData = (
  ctx: Pick<Context, 'blobs' | 'caller' | 'clock' | 'config' | 'db' | 'log' | 'sandbox'>,
  input: DataToRead,
  options?: Options,
) => Promise<ValidateReport>;

/** The base model and the data need different folders, because their files may have equal names. */
const BASE_MODEL = 'base_model';
const DATASET = 'dataset';
const VALIDATION = 'validation';

/**
 * Runs the runtime's `validate` on the files. The report lists what prevents a run; it is an internal error
 * if the program writes no report. Throws AppError('invalid_request') if the program stalls, because it would
 * stall again; 'unavailable' if the Python environment is not ready or the program was killed; and the errors
 * of `withBlobFile` for damaged bytes.
 */
export const readData = dataReader();

/** Creates the reader. Tests set a shorter limit. */
export function dataReader(stallMs: number = readingLimits.stallMs): ReadData {
  return async (ctx, input, options = {}) => {
    if (!(await hasLayer(ctx.config, 'training'))) {
      throw pythonNotReady();
    }
    const files = [
      ...input.base.map((file) => ({ ...file, folder: BASE_MODEL })),
      { ...input.dataFile, folder: DATASET },
      ...(input.validationFile ? [{ ...input.validationFile, folder: VALIDATION }] : []),
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
  place: { folder: string; user: number },
  ctx: Pick<Context, 'config' | 'sandbox'>,
  { dataFile, validationFile, spec }: DataToRead,
  stallMs: number,
  { signal, onProgress }: Options,
): Promise<ValidateReport> {
  const full: ValidateSpec = {
    ...spec,
    base_model_dir: path.join(place.folder, BASE_MODEL),
    data_file: path.join(place.folder, DATASET, dataFile.path),
    validation_file: validationFile && path.join(place.folder, VALIDATION, validationFile.path),
  };
  const last = await runReader(ctx, place, {
    command: 'validate',
    spec: full,
    stallMs,
    signal,
    what: spec.data.file_path,
    advice: 'Use shorter texts, or a base model with a simpler chat template.',
    param: 'file_name',
    onLine: (line) => {
      const progress = validateProgress.safeParse(line);
      if (progress.success) onProgress?.(progress.data);
    },
  });
  return validateReport.parse(last);
}
