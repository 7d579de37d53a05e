import type { PinServiceName } from '@bakehouse/contract/ipfs';
import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { underLease } from '../../../platform/leases/hold-lease.ts';
import { type Lease, type LeasedTable, releaseLeased } from '../../../platform/leases/leased-table.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { announceAssets } from '../../assets/assets.ts';
import { listRevisionFiles, type RevisionFile } from '../../assets/revisions/list-revision-files.ts';
import {
  insertBlobCid,
  insertPins,
  type RevisionCidRow,
  selectBlobCids,
  updateRevisionCid,
} from '../queries.ts';
import { retryAt } from '../retry-at.ts';
import { type Address, addressFile, addressFolder } from './unixfs.ts';

const columns = [
  ...(['id', 'asset_id', 'cid', 'reason', 'attempts'] as const),
  ...(['check_at', 'lock_token', 'locked_until'] as const),
];

/** Revisions that have no CID yet. */
export const revisionCidsTable: LeasedTable<RevisionCidRow, RevisionCidRow> = {
  name: 'revision_cids',
  columns,
  due: sql<boolean>`cid is null`,
  toRow: (row) => row,
};

/**
 * Returns the files of a revision with their addresses. Unknown addresses are computed and stored one by one,
 * so that another process can continue after a crash. Throws AppError('conflict') if a file is damaged.
 */
export async function addressFiles(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  revisionId: string,
  signal: AbortSignal,
): Promise<(RevisionFile & Address)[]> {
  const files = await listRevisionFiles(services.db, { revisionId });
  const known = await selectBlobCids(services.db, [...new Set(files.map(({ sha256 }) => sha256))]);
  const addressed: (RevisionFile & Address)[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    const address = known.get(file.sha256) ?? (await addressBlob(services, file, signal));
    known.set(file.sha256, address);
    addressed.push({ ...file, ...address });
  }
  return addressed;
}

async function addressBlob(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { sha256, path }: RevisionFile,
  signal: AbortSignal,
): Promise<Address> {
  const bytes = await readBlob(services, { sha256, path });
  const stop = () => bytes.destroy(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const address = await addressFile(bytes);
    await insertBlobCid(services.db, sha256, address);
    return address;
  } finally {
    signal.removeEventListener('abort', stop);
    bytes.destroy();
  }
}

/**
 * Computes the CIDs of a leased revision and of its files, and requests its pins. On failure, records the
 * reason.
 */
export async function addressRevision(
  services: Services,
  { lease, pinAt, signal }: { lease: Lease<RevisionCidRow>; pinAt: PinServiceName[]; signal: AbortSignal },
): Promise<void> {
  const { db, clock, log } = services;
  try {
    const { cid } = await addressFolder(await addressFiles(services, lease.id, signal));
    await underLease(db, revisionCidsTable, lease, async (tx, row) => {
      await updateRevisionCid(tx, row.id, { cid, reason: null });
      await insertPins(tx, cid, pinAt);
      await announceAssets(tx, [row.asset_id]);
    });
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ err: error, revision_id: lease.id }, 'failed to compute CIDs of revision');
    const reason = error instanceof AppError ? error.message : 'The server could not read the files';
    await underLease(db, revisionCidsTable, lease, async (tx, { id, asset_id, attempts }) => {
      const check_at = retryAt(clock.now(), attempts);
      await updateRevisionCid(tx, id, { reason, attempts: attempts + 1, check_at });
      await releaseLeased(tx, revisionCidsTable, lease);
      await announceAssets(tx, [asset_id]);
    });
  }
}
