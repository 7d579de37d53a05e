import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readLineage } from '../../assets/read-lineage.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { isClassifier, writesNoText } from '../../models/weights/is-classifier.ts';
import { isWholeModel } from '../../models/weights/is-whole-model.ts';
import { findRun, type RunRow } from '../queries.ts';

/**
 * The caller's fine-tune, the base of its adapter and the run that produced it. For a full fine-tune, which
 * has no adapter, `base` is the fine-tune itself.
 */
export type Exportable = { fineTune: AssetRevision; base: AssetRevision; run: RunRow };

const NEEDED = ['adapter_config.json', 'adapter_model.safetensors', 'tokenizer.json'];

/**
 * Reads a fine-tune with its base. Throws AppError 'not_found' if the caller may not read it, 'forbidden' for
 * another user's, and 'invalid_request' with the field `id` if it is not a text fine-tune or its base is
 * gone.
 */
export async function readExportable(ctx: Context, { assetId }: { assetId: string }): Promise<Exportable> {
  const { userId } = ctx.caller;
  const fineTune = await readRevision(ctx.db, { assetId, userId, top: true, param: 'id' });
  const { title, ownerUserId } = fineTune.asset;
  if (ownerUserId !== null && ownerUserId !== userId)
    throw new AppError('forbidden', { publicMessage: 'Only its owner can export this model' });
  const lineage = await readLineage(ctx.db, { assetId });
  const run = lineage && (await findRun(ctx.db, lineage.runId));
  if (!lineage || !run)
    throw refused(`${title} is not a fine-tune: only what a run has trained here can be exported`);
  if (run.kind === 'pictures') {
    throw refused(`${title} is a LoRA for pictures: only fine-tunes of language models can be exported`);
  }
  if (await isClassifier(ctx, fineTune)) throw refused(writesNoText(fineTune.asset));
  if (isWholeModel(fineTune.files)) return { fineTune, base: fineTune, run };
  const missing = NEEDED.find((name) => !fineTune.files.some(({ path }) => path === name));
  if (missing !== undefined) throw refused(`${title} has no ${missing}, which an export needs`);
  const base = await readRevision(ctx.db, { ...lineage.baseModel, userId, top: true }).catch(
    (error: unknown) => {
      if (!(error instanceof AppError && (error.code === 'not_found' || error.code === 'conflict')))
        throw error;
      throw refused(
        `${lineage.baseModel.title}, which ${title} was trained on, was deleted or is no longer shared with you`,
        error,
      );
    },
  );
  return { fineTune, base, run };
}

function refused(publicMessage: string, cause?: unknown): AppError {
  return new AppError('invalid_request', { publicMessage, param: 'id', cause });
}
