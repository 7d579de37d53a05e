import { createAsset, listAssets } from '@bakehouse/contract/assets';
import { sql } from 'kysely';
import type { Database } from '../../server/src/platform/db/database.ts';
import { inTransaction } from '../../server/src/platform/db/in-transaction.ts';
import type { Client } from '../client/client.ts';
import { skipForeignKeys } from './fill-ledger.ts';

const BATCH = 100_000;
/** Tag of some of the oldest assets. A search from the newest assets on has to scan all others first. */
export const RARE_TAG = 'first batches';
const RARELY_TAGGED = 500;
/** Title of the dataset with many files. */
export const LARGE_TITLE = 'Many files';

type Options = {
  /** Users who own the assets. The first one owns every tenth asset. */
  userIds: string[];
  count: number;
  print: (done: number, of: string) => void;
};

/** Inserts datasets and models without files. */
export async function fillAssets(db: Database, { userIds, count, print }: Options): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const upTo = Math.min(from + BATCH, count);
    await inTransaction(db, async (tx) => {
      await skipForeignKeys(tx);
      await sql`
        insert into assets (owner_user_id, dataset_type, title, category, details, tags, is_published, created_at, updated_at)
        select (${userIds}::text[])[case when i % 10 = 0 then 1 else 1 + i * 7919 % ${userIds.length} end],
          case when i / 10 % 4 = 3 then 'MODEL' else 'RAW' end,
          format('%s of %s, batch %s',
            (array['Recipes', 'Reviews', 'Questions', 'Letters', 'Orders'])[i * 31 % 5 + 1],
            (array['rye', 'wheat', 'spelt', 'oats', 'barley', 'maize', 'rice'])[i * 17 % 7 + 1], i),
          (array['Book', 'Art', 'Artificial intelligence'])[i % 3 + 1],
          'What was asked and answered over the counter, line by line.',
          array['example', 'year ' || 2000 + i % 25] || case when i < ${RARELY_TAGGED} then array[${RARE_TAG}::text] else '{}' end,
          -- Of all users' together, what everybody finds.
          i % 20 = 1,
          now() - (${count} - i) * interval '1 second', now() - (${count} - i) * interval '1 second'
        from generate_series(${from}::bigint, ${upTo}::bigint - 1) i`.execute(tx);
    });
    print(upTo, 'datasets and models');
  }
}

/** Creates the dataset with many files. One file is uploaded; the others have the same bytes. */
export async function fillFiles(
  db: Database,
  { client, count, file }: { client: Client; count: number; file: string },
): Promise<void> {
  const id = await client.call(createAsset, {
    body: { dataset_type: 'RAW', title: LARGE_TITLE, user_id: client.userId },
  });
  await client.upload(id, file);
  await inTransaction(db, async (tx) => {
    await sql`
      with second as (
        insert into revisions (asset_id, number) values (${id}, 2) returning id
      ), copies as (
        insert into asset_files (asset_id, path, first_number, sha256, size_bytes)
        select f.asset_id, format('part-%s/%s.csv', lpad((i / 1000)::text, 3, '0'), lpad(i::text, 6, '0')), 2, f.sha256,
          f.size_bytes
        from asset_files f, generate_series(2, ${count}::int) i where f.asset_id = ${id}
        returning size_bytes
      )
      update assets set revision_id = (select id from second), file_count = ${count},
        size_bytes = size_bytes + (select coalesce(sum(size_bytes), 0) from copies)
      where id = ${id}`.execute(tx);
  });
}

/** Returns the id of the dataset with many files. */
export async function findLarge(client: Client): Promise<string> {
  const { datasets } = await client.call(listAssets, {
    query: { types: 'RAW', owner: client.userId, search: LARGE_TITLE },
  });
  const [large] = datasets;
  if (!large) throw new Error('The dataset with many files is missing.');
  return large.dataset_id;
}
