import { AppError } from '../../../platform/errors.ts';
import { readRevision } from '../../assets/read-revision.ts';
import type { FindObstacle } from '../../models/get-model-readiness.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { findBaseFault } from './base-faults.ts';

/**
 * Returns why a fine-tune cannot use the model as its base, judged by its file list; null if it can. The
 * files' content is checked when a run is validated.
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

/** Returns a sentence if the model lacks a file that every base needs; null if it does not. */
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
