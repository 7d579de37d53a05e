import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { findStoredBytes } from '../../../platform/storage/owner-queries.ts';
import { testServer } from '../../../testing/test-server.ts';
import { insertAsset } from '../insert-asset.ts';
import { purgeAsset } from '../purge-asset.ts';
import { findAsset, lockAsset, markDeleted } from '../queries.ts';
import { addRevision } from '../revisions/add-revision.ts';

const server = await testServer();
const { db } = server.services;
const users = [await server.signUp('Ada'), await server.signUp('Bob')];

const SIZES = [1, 10, 100, 1000, 10_000];
const blobs = SIZES.map((sizeBytes) => ({ sha256: randomBytes(32).toString('hex'), sizeBytes }));

/** Returns a reproducible sequence of numbers for a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

async function newAsset(tx: Transaction, ownerUserId: string): Promise<string> {
  return insertAsset(tx, {
    ownerUserId,
    datasetType: 'RAW',
    title: 'Some',
    category: '',
    details: '',
    tags: [],
  });
}

/** Returns the expected total of each user. A blob that several files of a user share counts once. */
async function sums(): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ id: string; bytes: bigint }>`
    select users.id, coalesce(sum(stored.size_bytes), 0)::bigint as bytes from users left join (
      select distinct a.owner_user_id, f.sha256, f.size_bytes from asset_files f join assets a on a.id = f.asset_id
    ) stored on stored.owner_user_id = users.id
    group by users.id`.execute(db);
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}

/** Returns the expected and the stored owners of each blob, with the number of files that refer to it. */
async function owners(): Promise<{ wanted: unknown[]; found: unknown[] }> {
  const wanted = await sql`
    select f.sha256, 'user' as owner_kind, a.owner_user_id as owner_id, f.size_bytes, count(*) as refs
    from asset_files f join assets a on a.id = f.asset_id group by 1, 2, 3, 4 order by 1, 2, 3`.execute(db);
  const found = await sql`select * from blob_owners order by 1, 2, 3`.execute(db);
  return { wanted: wanted.rows, found: found.rows };
}

test('the stored total of each user equals the sum of their blobs after concurrent changes', async () => {
  await db
    .insertInto('blobs')
    .values(blobs.map(({ sha256, sizeBytes }) => ({ sha256, size_bytes: BigInt(sizeBytes) })))
    .execute();
  const assets = await Promise.all(
    [0, 1, 0, 1, 0].map((user) => db.transaction().execute((tx) => newAsset(tx, users[user]?.userId ?? ''))),
  );
  const seed = Date.now() % 100_000;
  await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (worker) => {
      const draw = numbers(seed + worker);
      for (let step = 0; step < 40; step += 1) {
        const at = draw(assets.length);
        const assetId = assets[at] ?? '';
        const put = Array.from({ length: draw(3) }, (_, file) => ({
          path: `${file}-${draw(4)}`,
          ...(blobs[draw(blobs.length)] ?? { sha256: '', sizeBytes: 0 }),
        }));
        const remove = [`0-${draw(4)}`].filter((path) => put.every((file) => file.path !== path));
        if (draw(8) === 0) {
          await inTransaction(db, (tx) => markDeleted(tx, assetId));
          while (!(await purgeAsset(db, { assetId, pieceRows: 2 })));
          assets[at] = await db.transaction().execute((tx) => newAsset(tx, users[draw(2)]?.userId ?? ''));
        } else {
          await inTransaction(db, async (tx) => {
            await lockAsset(tx, assetId);
            const asset = await findAsset(tx, assetId);
            if (asset) await addRevision(tx, asset, { put, remove, message: '', authorUserId: null });
          });
        }
      }
    }),
  );
  const { wanted: wantedOwners, found } = await owners();
  expect(found, `seed ${seed}`).toEqual(wantedOwners);
  const wanted = await sums();
  for (const { userId } of users) {
    expect(await findStoredBytes(db, userId), `seed ${seed}`).toBe(wanted.get(userId));
  }

  // Deleting the rows by a foreign-key cascade, as when a user is deleted, must also update the total.
  await sql`delete from assets where owner_user_id = ${users[0]?.userId}`.execute(db);
  expect(await findStoredBytes(db, users[0]?.userId ?? '')).toBe(0n);
  expect(await findStoredBytes(db, users[1]?.userId ?? '')).toBe(wanted.get(users[1]?.userId ?? ''));
}, 60_000);
