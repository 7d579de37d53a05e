import { Readable } from 'node:stream';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { conflict } from '../../../platform/errors.ts';
import { LeaseLost, underLease } from '../../../platform/leases/hold-lease.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { completeOnboardingStep } from '../../accounts/onboarding.ts';
import { parseUploadedCard } from '../../assets/card/card-data.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { createRevisionFromBlobs, type NewFile } from '../../assets/revisions/add-revision.ts';
import { recordSource } from '../../assets/sources/sources.ts';
import { readModelJson } from '../../models/weights/model-files.ts';
import { familyOf } from '../public/describe-repository.ts';
import type { HubAccess } from '../public/request-hub.ts';
import { endClone } from './clones.ts';
import { type CloneRow, clonesTable } from './clones-table.ts';
import { discardFiles } from './copy-file.ts';
import { selectCopied } from './queries.ts';

/**
 * Creates the dataset or model from the copied files, in one transaction with the end of the clone. Throws if
 * files are missing: a partial copy is never created.
 */
export async function finishClone(
  services: Services,
  lease: Lease<CloneRow>,
  access: HubAccess,
): Promise<void> {
  const copied = await selectCopied(services.db, lease.id);
  // Empty files are not fetched. They all use the same blob.
  const empty = copied.some(({ sizeBytes }) => sizeBytes === 0)
    ? await storeBlob(services, Readable.from([]))
    : null;
  const family = await readFamilyOf(services, lease.row, toFiles(copied, empty));
  for (const file of toFiles(copied, empty))
    await parseUploadedCard(services, { path: file.path, blob: file, userId: lease.row.user_id });
  const done = await underLease(services.db, clonesTable, lease, async (tx, row) => {
    const files = toFiles(await selectCopied(tx, row.id), empty);
    if (files.length === 0 || files.length < (row.files_total ?? 0))
      throw new Error(`Clone has ${files.length} of ${row.files_total} files`);
    const title = row.repo_id.slice(row.repo_id.indexOf('/') + 1);
    const assetId = await createCopy(tx, row, { files, family, title, access });
    await discardFiles(tx, { id: row.id, userId: row.user_id });
    await endClone(tx, row, { state: 'COMPLETED', assetId, title, now: services.clock.now() });
    return true;
  });
  if (!done) throw new LeaseLost();
}

/** Throws AppError('conflict') if the bytes of a copied file have been deleted. */
function toFiles(copied: Awaited<ReturnType<typeof selectCopied>>, empty: Blob | null): NewFile[] {
  return copied.map(({ path, sizeBytes, sha256: own }) => {
    const sha256 = sizeBytes === 0 ? empty?.sha256 : own;
    if (sha256) return { path, sizeBytes, sha256 };
    throw conflict(`${path} was copied but is missing. Try again to copy the missing files`);
  });
}

async function readFamilyOf(services: Services, row: CloneRow, files: NewFile[]): Promise<string> {
  return row.dataset_type === 'MODEL' ? familyOf((path) => readModelJson(services, files, path)) : '';
}

async function createCopy(
  tx: Transaction,
  { id, user_id: userId, dataset_type: datasetType, repo_id: repoId, commit_id: commitId }: CloneRow,
  { files, family, title, access }: { files: NewFile[]; family: string; title: string; access: HubAccess },
): Promise<string> {
  const assetId = await insertAsset(tx, {
    // The id was chosen when the clone started, because a run may already wait for this asset.
    ...{ id, ownerUserId: userId, datasetType, title, family },
    ...{ category: '', details: '', tags: [] },
  });
  const message = `Cloned from ${repoId} at ${commitId.slice(0, 8)}`;
  await createRevisionFromBlobs(tx, { assetId, files, message });
  await recordSource(tx, assetId, { hubUrl: access.url, repoId, commitId });
  await completeOnboardingStep(tx, userId, datasetType === 'RAW' ? 'create_dataset' : 'create_model');
  return assetId;
}
