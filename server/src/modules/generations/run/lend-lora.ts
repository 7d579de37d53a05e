import type { ImageLora } from '@bakehouse/contract/runtime/serve-image-spec';
import { lendInput } from '../../../engine/lend-input.ts';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readLora } from '../../models/loras/read-lora.ts';
import type { GenerationRow } from '../queries.ts';

type Row = Pick<GenerationRow, 'user_id' | 'parameters' | 'lora_revision_id'>;

/**
 * Returns the LoRA of a generation for its model server, and grants its workload access to the file;
 * undefined if it has none. Throws AppError 'invalid_request' if the user can no longer read it.
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

/** Permanent: a retry would not find it either. */
function refuseMissing(error: unknown): never {
  if (!(error instanceof AppError && error.code === 'not_found')) throw error;
  throw new AppError('invalid_request', {
    publicMessage: 'Its LoRA was deleted, or you have no access to it any more',
    param: 'lora',
    cause: error,
  });
}
