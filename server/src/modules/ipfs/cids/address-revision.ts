import type { PinServiceName } from '@bakehouse/contract/ipfs';
import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { type Lease, type LeasedTable, releaseLeased } from '../../../platform/leases/leased-table.ts';
import { underLease } from '../../../platform/leases/under-lease.ts';
import { announceAssets } from '../../assets/announce-assets.ts';
import { insertPins, type RevisionCidRow, updateRevisionCid } from '../queries.ts';
import { retryAt } from '../retry-at.ts';
import { addressFiles } from './address-files.ts';
import { addressFolder } from './unixfs.ts';

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

/** Computes the CIDs of a leased revision and its files, and requests its pins. Records a failure. */
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
