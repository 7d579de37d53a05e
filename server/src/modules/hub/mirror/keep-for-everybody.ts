import type { Transaction } from '../../../platform/db/database.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import type { NewFile } from '../../assets/add-revision.ts';
import { createRevisionFromBlobs } from '../../assets/create-revision-from-blobs.ts';
import { openMirrored } from '../../assets/repositories/open-mirrored.ts';
import { findCommit } from '../../assets/revisions/find-commit.ts';
import { saveMirrorSource } from '../../assets/sources/sources.ts';
import type { CloneRow } from '../clone/clones-table.ts';
import type { HubAccess } from '../public/ask-hub.ts';

/** What a clone has brought. */
export type Copy = { files: NewFile[]; family: string; title: string; access: HubAccess };

/** Step: makes what was copied the newest commit of everybody's repository of that name, and answers its asset's id. */
export async function keepForEverybody(
  tx: Transaction,
  { dataset_type: datasetType, repo_id: repoId, commit_id: commitId }: CloneRow,
  { files, family, title, access, now }: Copy & { now: Date },
): Promise<string> {
  const namespace = repoId.slice(0, repoId.indexOf('/'));
  const asset = await openMirrored(tx, { datasetType, namespace, name: title, family });
  // Back at an earlier commit, it is a new one with the files of that.
  const isKnown = (await findCommit(tx, asset, commitId)) !== null;
  await createRevisionFromBlobs(tx, {
    ...{ assetId: asset.id, files, message: `Copied from ${repoId} at ${commitId.slice(0, 8)}` },
    ...(!isKnown && { commitId }),
  });
  await saveMirrorSource(tx, asset.id, {
    hubUrl: access.url,
    repoId,
    commitId,
    lookedUpAt: now,
  });
  await recordAudit(tx, {
    userId: null,
    action: 'asset.files_added',
    detail: { asset_id: asset.id, files: String(files.length) },
  });
  await publishChange(tx, null, { topic: 'asset', id: asset.id });
  return asset.id;
}
