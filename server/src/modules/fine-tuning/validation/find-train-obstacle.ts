import { AppError } from '../../../platform/errors.ts';
import { readRevision } from '../../assets/read-revision.ts';
import type { FindObstacle } from '../../models/get-model-readiness.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { findBaseFault } from './base-faults.ts';

/**
 * Returns why the model cannot be the base of a fine-tune, judged by its list of files; null if it can.
 * Validating a run also checks the contents of the files.
 */
export const findTrainObstacle: FindObstacle = async (ctx, { assetId }) => {
  try {
    const base = await readRevision(ctx.db, { assetId, userId: ctx.caller.userId, top: true });
    return (
      (await findBaseFault(ctx, base)) ?? findMissingFile({ title: base.asset.title, files: base.files })
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return error.publicMessage;
    throw error;
  }
};

/** Returns a sentence that names a missing file which every base needs; null if none is missing. */
export function findMissingFile({
  title,
  files,
}: {
  title: string;
  files: { path: string }[];
}): string | null {
  const names = listModelFiles(files).map(({ path }) => path);
  if (!names.includes('config.json')) return `${title} has no config.json, which describes its architecture`;
  if (names.includes('tokenizer.json')) return null;
  return (
    `${title} has no tokenizer.json. ` +
    "AutoTokenizer.from_pretrained('your-model').save_pretrained('a-folder') of Transformers writes it: upload that file"
  );
}
