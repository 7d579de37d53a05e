import type { ImageLora } from '@bakehouse/contract/runtime/serve-image-spec';
import { lendInput } from '../../../engine/lend-input.ts';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readLora } from '../../models/loras/read-lora.ts';
import type { GenerationRow } from '../queries.ts';

type Row = Pick<GenerationRow, 'user_id' | 'parameters' | 'lora_revision_id'>;

/**
 * The LoRA of a generation as its model server is told of it, whose workload may read the file from now on; undefined where there is
 * none. Throws AppError 'invalid_request' where it is not the user's to read any more.
 */
export async function lendLora(
  { db }: Pick<Services, 'db'>,
  { user_id: userId, parameters, lora_revision_id: revisionId }: Row,
  { workloadId }: { workloadId: string },
): Promise<ImageLora | undefined> {
  const { lora: assetId, lora_scale: scale } = parameters;
  if (revisionId === null || typeof assetId !== 'string') return undefined;
  const { file } = await readLora(db, { assetId, revisionId, userId, param: 'lora' }).catch(refuseMissing);
  const { sha256, sizeBytes } = file;
  await lendInput(db, { workloadId, sha256, sizeBytes });
  return { id: revisionId, sha256, size_bytes: sizeBytes, scale: Number(scale) };
}

/** Asked again, it would be missing again. */
function refuseMissing(error: unknown): never {
  if (!(error instanceof AppError && error.code === 'not_found')) throw error;
  throw new AppError('invalid_request', {
    publicMessage: 'Its LoRA was deleted, or you have no access to it any more',
    param: 'lora',
    cause: error,
  });
}
