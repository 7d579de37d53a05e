import { AppError } from '../../../platform/errors.ts';
import type { FindObstacle } from '../../assets/get-model-readiness.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { trainableFiles } from '../fine-tune-spec.ts';
import { findBaseFault } from './find-base-fault.ts';

/** Files of which a tokenizer needs one, by the names that Transformers gives them. */
const TOKENIZERS = ['tokenizer.json', 'tokenizer.model', 'vocab.json', 'vocab.txt', 'spiece.model'];

/**
 * Whether a fine-tune could read the model as its base, as far as the names of its files tell. What
 * is in them is read when somebody wants to train.
 */
export const findTrainObstacle: FindObstacle = async (ctx, { assetId }) => {
  try {
    const base = await readRevision(ctx.db, { assetId, userId: ctx.caller.userId });
    return findBaseFault(base) ?? findMissingFile(base);
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return error.publicMessage;
    throw error;
  }
};

function findMissingFile(base: AssetRevision): string | null {
  const names = trainableFiles(base).map(({ path }) => path);
  const { title } = base.asset;
  if (!names.includes('config.json')) return `${title} has no config.json, which describes its architecture`;
  return names.some((name) => TOKENIZERS.includes(name)) ? null : `${title} has no tokenizer.json`;
}
