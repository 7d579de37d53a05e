import type { AssetUpload } from '@bakehouse/contract/asset-uploads';
import type { Database } from '../../../../../platform/db/database.ts';
import { selectParts } from '../../../../../platform/storage/uploads/queries.ts';
import { countParts, type Upload } from '../../../../../platform/storage/uploads/upload.ts';

/** Returns an upload with its received parts. */
export async function toWireUpload(db: Database, upload: Upload, path: string): Promise<AssetUpload> {
  const parts = await selectParts(db, upload.id);
  const received = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return {
    upload_id: upload.id,
    path,
    size_bytes: upload.sizeBytes,
    part_bytes: upload.partBytes,
    part_count: countParts(upload),
    is_whole: upload.blob !== null,
    received_bytes: upload.blob ? upload.sizeBytes : received,
    created_at: upload.createdAt.toISOString(),
    parts: parts.map(({ number, sha256, sizeBytes }) => ({ number, sha256, size_bytes: sizeBytes })),
  };
}
