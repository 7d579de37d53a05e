import type { RepositoryInfo } from '@bakehouse/contract/hub/repositories';
import type { Database } from '../../../platform/db/database.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { isNewest } from '../../assets/revisions/find-commit.ts';
import { type CloneRow, repoOf } from '../clone/clones-table.ts';
import { findFile, selectFiles } from '../clone/queries.ts';
import { toLfs } from '../files/to-entry.ts';
import { HubError } from '../hub-error.ts';

type Asked = { clone: CloneRow; revision: string };

/** A repository that is being copied, by the list of its files; undefined while there is none. Throws HubError for another revision. */
export async function describeCopying(
  db: Database,
  { clone, revision, withBlobs }: Asked & { withBlobs: boolean },
): Promise<RepositoryInfo | undefined> {
  refuseOther({ clone, revision });
  if (clone.files_total === null) return undefined;
  const { type, id } = repoOf(clone);
  const files = await selectFiles(db, clone.id);
  const at = clone.created_at.toISOString();
  return {
    ...{ _id: clone.id, id, ...(type === 'model' && { modelId: id }), sha: clone.commit_id },
    ...{ author: id.slice(0, id.indexOf('/')), lastModified: at, createdAt: at },
    ...{ private: false, gated: false, disabled: false, downloads: 0, likes: 0, tags: [] },
    siblings: files.map(({ path, sizeBytes, sha256, gitSha1 }) => ({
      rfilename: path,
      ...(withBlobs && {
        size: sizeBytes,
        blobId: gitSha1,
        ...(sha256 !== null && lfsOf(sha256, sizeBytes)),
      }),
    })),
    usedStorage: Number(clone.bytes_total),
  };
}

/** The bytes of a file of it that are here already; undefined while they come. Throws HubError for a file that it does not have. */
export async function findCopiedFile(
  db: Database,
  { clone, revision, path }: Asked & { path: string },
): Promise<Blob | undefined> {
  refuseOther({ clone, revision });
  if (clone.files_total === null) return undefined;
  const file = await findFile(db, { cloneId: clone.id, path: path.normalize('NFC') });
  if (!file) throw new HubError('not_found', 'EntryNotFound', `There is no file ${path} in ${revision}`);
  return file.sha256 === null ? undefined : { sha256: file.sha256, sizeBytes: file.sizeBytes };
}

function lfsOf(sha256: string, sizeBytes: number) {
  const { blobId, size, pointerSize } = toLfs({ sha256, size_bytes: BigInt(sizeBytes) });
  return { blobId, lfs: { sha256, size, pointerSize } };
}

function refuseOther({ clone, revision }: Asked): void {
  if (isNewest(revision) || revision === clone.commit_id) return;
  throw new HubError('not_found', 'RevisionNotFound', `There is no revision ${revision}`);
}
