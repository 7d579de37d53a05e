import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { invalidParam } from '../../../platform/errors.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { findLoraFile } from '../../assets/recognise/find-lora-file.ts';

type Wanted = { assetId: string; revisionId?: string; userId: string; param: string };

/**
 * Returns the weights file of an image LoRA, in the given revision or the newest one. Throws the errors of
 * `readRevision`, and AppError 'invalid_request' if the model is not a LoRA or is too large. Errors name the
 * field `param`.
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
      'or a single safetensors file and no model';
    throw invalidParam(param, publicMessage);
  }
  // Loaded LoRAs stay in memory, so they have the size limit of uploads by form.
  if (file.sizeBytes > FILE_SIZE_LIMIT_BYTES) {
    const publicMessage = `${asset.title} is too large: a LoRA has at most 500 MB`;
    throw invalidParam(param, publicMessage);
  }
  return { revisionId: revision.id, file };
}
