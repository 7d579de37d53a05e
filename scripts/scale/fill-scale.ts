import { listApiKeys } from '@bakehouse/contract/api-keys';
import { sql } from 'kysely';
import { openUserAccount } from '../../server/src/modules/billing/ledger/open-user-account.ts';
import type { Database } from '../../server/src/platform/db/database.ts';
import { inTransaction } from '../../server/src/platform/db/in-transaction.ts';
import type { Client } from '../client/client.ts';
import { PlainError } from '../plain-error.ts';
import { fillAssets, fillFiles, findLarge } from './fill-assets.ts';
import { fillLedger, sealAll } from './fill-ledger.ts';
import { fillUsage } from './fill-usage.ts';
import { fillDeployments, fillWaitingRuns } from './fill-work.ts';
import type { Sizes } from './sizes.ts';

type Options = {
  sizes: Sizes;
  /** The user who owns the large numbers of objects. Must be signed in to the server of this database. */
  client: Client;
  /** Size of the file whose bytes all files share; small. */
  file: string;
  print: (line: string) => void;
};

/** Fills the database of a running server with the objects in `sizes`. Throws if it was filled before. */
export async function fillScale(db: Database, { sizes, client, file, print }: Options): Promise<void> {
  const { rows: before } = await sql`select from users where username = 'scale-1'`.execute(db);
  if (before.length > 0)
    throw new PlainError('This database was filled before. Choose another data folder with --data-dir PATH.');

  const count = (done: number, of: string) => print(`${done.toLocaleString('en')} ${of}`);
  const userIds = [client.userId, ...(await fillUsers(db, sizes.users - 1))];
  const keyId = await findKeyId(client);
  await fillLedger(db, { userIds, keyId, count: sizes.transfers, print: count });
  await fillUsage(db, { userIds, keyId, count: sizes.usageWindows, print: count });
  await sealAll(db, count);
  await fillAssets(db, { userIds, count: sizes.assets, print: count });
  await fillFiles(db, { client, count: sizes.files, file });
  count(sizes.files, 'files in one dataset');
  const work = { userId: client.userId, assetId: await findLarge(client) };
  await fillDeployments(db, { ...work, count: sizes.deployments });
  count(sizes.deployments, 'deployments, asleep');
  await fillWaitingRuns(db, { ...work, count: sizes.waitingRuns });
  count(sizes.waitingRuns, 'waiting runs');
  await sql`vacuum analyze`.execute(db);
}

/** Inserts users without a password, each with an account in the ledger. */
async function fillUsers(db: Database, count: number): Promise<string[]> {
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<{ id: string }>`
      insert into users (id, name, username, email)
      select 'scale' || i, 'Scale ' || i, 'scale-' || i, 'scale-' || i || '@example.com'
      from generate_series(1, ${count}::int) i
      returning id`.execute(tx);
    for (const { id } of rows) await openUserAccount(tx, { userId: id, grantMicro: 0n });
    return rows.map((row) => row.id);
  });
}

/** Returns the id of the API key that the web app shows and sends, which every user has. */
export async function findKeyId(client: Client): Promise<string> {
  const { api_keys } = await client.call(listApiKeys, { params: { userId: client.userId } });
  const own = api_keys.find(({ for_web_app }) => for_web_app);
  if (!own) throw new Error('The user has no API key.');
  return own.id;
}
