import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { invalidParam } from '../../../platform/errors.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { findLoraFile } from '../../assets/recognise/find-lora-file.ts';

type Wanted = { assetId: string; revisionId?: string; userId: string; param: string };

/**
 * Returns the weights file of an image LoRA in the given or the newest revision. Throws whatever
 * `readRevision` throws, and AppError 'invalid_request' if the model is not a LoRA or is too large; each
 * names the field `param`.
 */
export async function readLora(
  db: Database | Transaction,
  { param, ...wanted }: Wanted,
): Promise<{ revisionId: string; file: AssetRevision['files'][number] }> {
  const { asset, revision, files } = await readRevision(db, { ...wanted, top: true, param });
  const file = asset.datasetType === 'MODEL' ? findLoraFile(files) : undefined;
  if (!file) {
    const publicMessage =
      `${asset.title} is not a LoRA: it needs a pytorch_lora_weights.safetensors, ` +
      'or one other safetensors file and no model beside it';
    throw invalidParam(param, publicMessage);
  }
  // The form upload limit, because loaded LoRAs stay in memory.
  if (file.sizeBytes > FILE_SIZE_LIMIT_BYTES) {
    const publicMessage = `${asset.title} is too large: a LoRA has at most 500 MB`;
    throw invalidParam(param, publicMessage);
  }
  return { revisionId: revision.id, file };
}
