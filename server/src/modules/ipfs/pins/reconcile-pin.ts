import type { PinServiceName } from '@bakehouse/contract/ipfs';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import type { DB } from '../../../platform/db/schema.generated.ts';
import { AppError } from '../../../platform/errors.ts';
import { underLease } from '../../../platform/leases/hold-lease.ts';
import { type Lease, type LeasedTable, releaseLeased } from '../../../platform/leases/leased-table.ts';
import { announceAssets } from '../../assets/assets.ts';
import { addressFiles } from '../cids/addresses.ts';
import { deletePin, type PinRow, selectRevisionsOf, toPin, updatePin } from '../queries.ts';
import { retryAt } from '../retry-at.ts';
import { readFolderCar } from './folder-car.ts';
import { PinFailure, type PinReport, type PinService } from './pin-service.ts';

/** Interval for rechecking a pinned CID. */
const PINNED_MS = 60 * 60_000;

export type PinColumns = Selectable<DB['ipfs_pins']>;
type PinsTable = LeasedTable<PinColumns, PinRow>;

/** Returns the table of pins, limited to these services. */
export function pinsTable(names: PinServiceName[]): PinsTable {
  const due: RawBuilder<boolean> = sql`service = any(${names}::text[])`;
  return { name: 'ipfs_pins', columns, due, toRow: toPin };
}

const columns = [
  ...(['id', 'cid', 'service', 'state', 'reason', 'request_id', 'attempts'] as const),
  ...(['checked_at', 'check_at', 'lock_token', 'locked_until'] as const),
];

type Parts = { services: Services; table: PinsTable; pinServices: PinService[] };

/** Pins the CID of a leased row if a revision has this CID; else unpins it. Records the result. */
export async function reconcilePin(
  { services, table, pinServices }: Parts,
  lease: Lease<PinRow>,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, log } = services;
  const service = pinServices.find(({ name }) => name === lease.row.service);
  if (!service) return;
  const write = (report: PinReport | 'dropped') =>
    underLease(db, table, lease, async (tx, row) => {
      await record(tx, row, report, clock.now());
      await releaseLeased(tx, table, lease);
    });
  try {
    const [revision] = await selectRevisionsOf(db, lease.row.cid);
    if (!revision) {
      await service.drop(lease.row, signal);
      await write('dropped');
      return;
    }
    const readCar = async () => {
      const files = await addressFiles(services, revision.id, signal);
      const bytes = files.reduce((sum, { dagBytes }) => sum + dagBytes, 0);
      return { car: readFolderCar(services, lease.row.cid, files), bytes };
    };
    const onPinning = async () => {
      await underLease(db, table, lease, (tx, row) => showState(tx, row, { state: 'pinning', reason: null }));
    };
    await write(await service.keep(lease.row, { readCar, onPinning, signal }));
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ err: error, cid: lease.row.cid, service: service.name }, 'failed to reconcile pin');
    const isKnown = error instanceof PinFailure || error instanceof AppError;
    const reason = isKnown ? error.message : 'The server could not read the files';
    await write({ state: 'failed', reason, requestId: lease.row.request_id });
  }
}

/** Records the result. If the CID became unused or used in the meantime, the pin is due again immediately. */
async function record(tx: Transaction, row: PinRow, report: PinReport | 'dropped', now: Date): Promise<void> {
  const isWanted = (await selectRevisionsOf(tx, row.cid)).length > 0;
  if (report === 'dropped') {
    if (!isWanted) return deletePin(tx, row.id);
    return updatePin(tx, row.id, { state: 'queued', request_id: null, attempts: 0, check_at: now });
  }
  const { state, reason, requestId } = report;
  const isPinned = state === 'pinned';
  const later = isPinned ? new Date(now.getTime() + PINNED_MS) : retryAt(now, row.attempts);
  await updatePin(tx, row.id, {
    request_id: requestId,
    attempts: isPinned ? 0 : row.attempts + 1,
    checked_at: now,
    check_at: isWanted || state === 'failed' ? later : now,
  });
  await showState(tx, row, { state, reason });
}

async function showState(
  tx: Transaction,
  row: PinRow,
  shown: Pick<PinRow, 'state' | 'reason'>,
): Promise<void> {
  await updatePin(tx, row.id, shown);
  const revisions = await selectRevisionsOf(tx, row.cid);
  await announceAssets(
    tx,
    revisions.map(({ asset_id }) => asset_id),
  );
}
