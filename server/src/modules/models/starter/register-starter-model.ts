import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { isBlobKept } from '../../../platform/storage/owner-queries.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import type { NewFile } from '../../assets/add-revision.ts';
import { enqueueCard } from '../../assets/card/card-data.ts';
import { createRevisionFromBlobs } from '../../assets/create-revision-from-blobs.ts';
import type { StarterTask } from '../../assets/queries.ts';
import { upsertStarterAsset } from './queries.ts';

/**
 * Registers local files as a shared, immutable model. Updates the model with this slug and adds a revision
 * only if a file differs. Safe to call at every start and from several processes.
 */
export async function registerStarterModel(
  services: Services,
  model: {
    slug: string;
    task: StarterTask;
    title: string;
    details: string;
    category: string;
    family?: string;
    tags: string[];
    files: { path: string; localPath: string }[];
  },
): Promise<{ assetId: string; revisionId: string }> {
  const files: NewFile[] = [];
  for (const { path, localPath } of model.files) files.push({ path, ...(await keep(services, localPath)) });
  return inTransaction(services.db, async (tx) => {
    const { id: assetId } = await upsertStarterAsset(tx, model);
    const { revisionId } = await createRevisionFromBlobs(tx, {
      assetId,
      files,
      message: 'Bring the starter model up to date',
    });
    await enqueueCard(tx, services.jobs, files);
    return { assetId, revisionId };
  });
}

/** Stores the file unless it is already stored: hashing is much cheaper than writing. */
async function keep(services: Services, localPath: string): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(localPath, { highWaterMark: 1024 * 1024 }), hash);
  const sha256 = hash.digest('hex');
  if (await isBlobKept(services.db, sha256)) return { sha256, sizeBytes: (await stat(localPath)).size };
  return storeBlob(services, createReadStream(localPath, { highWaterMark: 1024 * 1024 }));
}
