import { formatBytes } from '@bakehouse/contract/labels';
import type { Services } from '../../../platform/context.ts';
import { AppError, conflict, unavailable } from '../../../platform/errors.ts';
import { LeaseLost, underLease } from '../../../platform/leases/hold-lease.ts';
import type { Lease } from '../../../platform/leases/leased-table.ts';
import { quotaExceeded, readQuota } from '../../assets/files/storage-quota.ts';
import { cleanFilePath } from '../../assets/files/upload/clean-path.ts';
import { chooseFiles } from '../public/describe-repository.ts';
import { FILES_MAX, hubClient, type RepoFile } from '../public/hub-client.ts';
import type { HubAccess } from '../public/request-hub.ts';
import type { CloneReport } from './clone-report.ts';
import { announceClone } from './clones.ts';
import { type CloneRow, clonesTable, repoOf } from './clones-table.ts';
import { insertFiles, updateClone } from './queries.ts';

type Listing = {
  services: Services;
  lease: Lease<CloneRow>;
  access: HubAccess;
  report: CloneReport;
  signal: AbortSignal;
};

/**
 * Stores the list of files to copy, before any file is copied. Throws AppErrors with messages for the owner
 * if the files do not fit into the quota or on the disk, or if the repository cannot be stored.
 */
export async function listRepository({ services, lease, access, report, signal }: Listing): Promise<void> {
  const { row } = lease;
  const repo = repoOf(row);
  const listed = await hubClient(access, signal).listFiles(repo, row.commit_id, FILES_MAX);
  const { copied, leftOut, fault } = chooseFiles(repo.type, listed);
  if (fault) throw conflict(fault);
  if (copied.length === 0) throw conflict(`${row.repo_id} has no files`);
  assertUniquePaths(copied);
  for (const { path } of copied) assertSafePath(path);
  const bytes = copied.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  await assertCloneFits(services, row.user_id, bytes);
  report.log(`${row.repo_id} at ${row.commit_id.slice(0, 8)}: ${copied.length} files, ${formatBytes(bytes)}`);
  if (leftOut.length > 0)
    report.log(`Skipped, because the same weights exist as safetensors: ${namesOf(leftOut)}`);
  const written = await underLease(services.db, clonesTable, lease, async (tx) => {
    await insertFiles(tx, row.id, copied);
    await updateClone(tx, row.id, {
      ...{ state: 'COPYING', files_total: copied.length, bytes_total: BigInt(bytes) },
    });
    await announceClone(tx, row);
    return true;
  });
  if (!written) throw new LeaseLost();
}

const NAMED_MAX = 5;

function namesOf(files: RepoFile[]): string {
  const names = files.slice(0, NAMED_MAX).map(({ path }) => path);
  const others = files.length - names.length;
  return new Intl.ListFormat('en-GB').format(others > 0 ? [...names, `${others} more`] : names);
}

function assertUniquePaths(files: RepoFile[]): void {
  if (new Set(files.map(({ path }) => path)).size === files.length) return;
  throw conflict('The hub lists a file twice');
}

/**
 * Throws if the path would be changed when stored, e.g. a path outside the folder or one with invisible
 * characters.
 */
function assertSafePath(path: string): void {
  let kept: string | null = null;
  try {
    kept = cleanFilePath(path);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  if (kept === path) return;
  throw conflict(`The hub lists a file whose name cannot be stored: ${JSON.stringify(path.slice(0, 200))}`);
}

async function assertCloneFits(services: Services, userId: string, bytes: number): Promise<void> {
  const quota = await readQuota(services, userId);
  if (quota && bytes > quota.leftBytes)
    throw quotaExceeded(quota, { needed: formatBytes(bytes), param: 'repo_id', files: 2 });
  const free = await services.blobs.freeBytes();
  if (free !== null && bytes > free)
    throw unavailable(`It needs ${formatBytes(bytes)}, and the server's disk has ${formatBytes(free)} left`);
}
