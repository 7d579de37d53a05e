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
 * Makes a model out of local files that everybody may use and nobody may change, or brings the one
 * of that slug up to date: a new revision only where a file differs. Safe to call at every start
 * and from several processes.
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

/** Copies the file into the store unless it is there: reading is much cheaper than writing. */
async function keep(services: Services, localPath: string): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(localPath, { highWaterMark: 1024 * 1024 }), hash);
  const sha256 = hash.digest('hex');
  if (await isBlobKept(services.db, sha256)) return { sha256, sizeBytes: (await stat(localPath)).size };
  return storeBlob(services, createReadStream(localPath, { highWaterMark: 1024 * 1024 }));
}
