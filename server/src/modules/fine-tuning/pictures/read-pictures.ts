import path from 'node:path';
import {
  type PicturesReport,
  picturesReport,
  type ValidatePicturesSpec,
} from '@bakehouse/contract/runtime/validate-pictures-spec';
import { hasLayer } from '../../../engine/host/environment/environment.ts';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import type { Context } from '../../../platform/context.ts';
import { pythonNotReady } from '../../../platform/errors.ts';
import { shareFiles } from '../../../platform/sandbox/share-files.ts';
import { withBlobFiles } from '../../../platform/storage/read-blob.ts';
import { readingLimits } from '../readings/limits.ts';
import { runReader } from '../validation/run-reader.ts';

/** The base model and the dataset need different folders, because their files may have equal names. */
const BASE_MODEL = 'base_model';

const DATASET = 'dataset';

/** Runs the runtime's `validate-pictures` on the files. Throws whatever `readData` throws. */
const readPictures: ReadPictures = async (ctx, input, signal) => {
  if (!(await hasLayer(ctx.config, 'training'))) {
    throw pythonNotReady();
  }
  const files = [
    ...input.base.map((file) => ({ ...file, folder: BASE_MODEL })),
    ...input.files.map((file) => ({ ...file, folder: DATASET })),
  ];
  return withBlobFiles(ctx, files, (localPaths) => {
    const lent = files.map((file, at) => ({
      localPath: localPaths[at] ?? '',
      as: path.join(file.folder, file.path),
    }));
    return shareFiles(ctx.sandbox, lent, async (place) => {
      const spec: ValidatePicturesSpec = {
        ...input.spec,
        base_model_dir: path.join(place.folder, BASE_MODEL),
        dataset_dir: path.join(place.folder, DATASET),
      };
      const last = await runReader(ctx, place, {
        command: 'validate-pictures',
        spec,
        // The program prints nothing before it is done.
        stallMs: readingLimits.picturesMs,
        signal,
        what: 'the pictures',
        advice: 'Use fewer or smaller pictures.',
        param: 'dataset_id',
      });
      return picturesReport.parse(last);
    });
  });
};

const line = fairQueue(readingLimits.shortAtOnce, { perKey: 1 });

/** Limits each user to one concurrent read of pictures; users are served round-robin. */
export const readPicturesQueued: ReadPictures = (ctx, input, signal) =>
  line.run(ctx.caller.userId, () => readPictures(ctx, input, signal), signal);

type File = { path: string; sha256: string };

/** A dataset with the model and the settings for reading it. */
export type PicturesToRead = {
  /** Files of the base model without weights. */
  base: File[];
  files: File[];
  spec: Omit<ValidatePicturesSpec, 'base_model_dir' | 'dataset_dir'>;
};

/** Reads all pictures of a dataset as training would. Tests use another implementation. */
export type ReadPictures = (
  ctx: Pick<Context, 'blobs' | 'caller' | 'clock' | 'config' | 'db' | 'log' | 'sandbox'>,
  input: PicturesToRead,
  signal?: AbortSignal,
) => Promise<PicturesReport>;
