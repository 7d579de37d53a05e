import type { PinServiceName, PinState } from '@bakehouse/contract/ipfs';
import { type Selectable, sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/schema.generated.ts';
import type { Address } from './cids/unixfs.ts';

export type RevisionCidRow = Selectable<DB['revision_cids']>;
export type PinRow = Omit<Selectable<DB['ipfs_pins']>, 'service' | 'state'> & {
  service: PinServiceName;
  state: PinState;
};

/** Returns the known addresses of these blobs. */
export async function selectBlobCids(db: Database, sha256s: string[]): Promise<Map<string, Address>> {
  const rows = await db
    .selectFrom('blob_cids')
    .selectAll()
    .where('sha256', '=', sql<string>`any(${sha256s}::text[])`)
    .execute();
  return new Map(rows.map(({ sha256, cid, dag_bytes }) => [sha256, { cid, dagBytes: Number(dag_bytes) }]));
}

export async function insertBlobCid(db: Database, sha256: string, { cid, dagBytes }: Address): Promise<void> {
  await db
    .insertInto('blob_cids')
    .values({ sha256, cid, dag_bytes: BigInt(dagBytes) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function updateRevisionCid(
  tx: Transaction,
  id: string,
  values: Partial<Pick<RevisionCidRow, 'cid' | 'reason' | 'attempts' | 'check_at'>>,
): Promise<void> {
  await tx.updateTable('revision_cids').set(values).where('id', '=', id).execute();
}

/** Returns the CIDs of an asset's revisions, newest first, starting after the revision `before`. */
export async function selectRevisionCids(
  db: Database,
  { assetId, before, limit }: { assetId: string; before: string | undefined; limit: number },
) {
  return db
    .selectFrom('revision_cids')
    .innerJoin('revisions', 'revisions.id', 'revision_cids.id')
    .select(['revisions.id', 'revisions.number', 'revisions.created_at', 'cid', 'reason'])
    .where('revision_cids.asset_id', '=', assetId)
    .$if(before !== undefined, (query) =>
      query.where('revisions.number', '<', (eb) =>
        eb
          .selectFrom('revisions as earlier')
          .select('earlier.number')
          .where('earlier.id', '=', before ?? '')
          .where('earlier.asset_id', '=', assetId),
      ),
    )
    .orderBy('revisions.number', 'desc')
    .limit(limit)
    .execute();
}

export async function selectPins(db: Database, cids: string[], services: PinServiceName[]) {
  const rows = await db
    .selectFrom('ipfs_pins')
    .selectAll()
    .where('cid', '=', sql<string>`any(${cids}::text[])`)
    .where('service', '=', sql<string>`any(${services}::text[])`)
    .orderBy('service')
    .execute();
  return rows.map(toPin);
}

export function toPin(row: Selectable<DB['ipfs_pins']>): PinRow {
  return { ...row, service: row.service as PinServiceName, state: row.state as PinState };
}

/** Requests pins of the CID at these services. A pin that is being removed is requested again. */
export async function insertPins(tx: Transaction, cid: string, services: PinServiceName[]): Promise<void> {
  if (services.length === 0) return;
  await tx
    .insertInto('ipfs_pins')
    .values([...services].sort().map((service) => ({ cid, service })))
    .onConflict((conflict) =>
      conflict.columns(['cid', 'service']).doUpdateSet({ check_at: sql<Date>`now()` }),
    )
    .execute();
}

/** Requests all CIDs' pins that are missing at these services, e.g. because a service was just configured. */
export async function insertMissingPins(db: Database, services: PinServiceName[]): Promise<void> {
  await sql`
    insert into ipfs_pins (cid, service)
    select distinct cid, service from revision_cids, unnest(${services}::text[]) as service where cid is not null
    order by cid, service
    on conflict do nothing`.execute(db);
}

export async function updatePin(
  tx: Transaction,
  id: string,
  values: Partial<Pick<PinRow, 'state' | 'reason' | 'request_id' | 'attempts' | 'checked_at' | 'check_at'>>,
): Promise<void> {
  await tx.updateTable('ipfs_pins').set(values).where('id', '=', id).execute();
}

export async function deletePin(tx: Transaction, id: string): Promise<void> {
  await tx.deleteFrom('ipfs_pins').where('id', '=', id).execute();
}

/** Returns one revision with this CID for each asset. The CID stays pinned until there is none. */
export async function selectRevisionsOf(
  db: Database | Transaction,
  cid: string,
): Promise<{ id: string; asset_id: string }[]> {
  return db
    .selectFrom('revision_cids')
    .select(['id', 'asset_id'])
    .distinctOn('asset_id')
    .where('cid', '=', cid)
    .orderBy('asset_id')
    .execute();
}

/** True if the CID is pinned at the operator's node. */
export async function isPinnedAtNode(db: Database, cid: string): Promise<boolean> {
  const row = await db
    .selectFrom('ipfs_pins')
    .select('id')
    .where('cid', '=', cid)
    .where('service', '=', 'kubo')
    .where('state', '=', 'pinned')
    .executeTakeFirst();
  return row !== undefined;
}
