import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Services } from '../../../platform/context.ts';
import { createLog } from '../../../platform/log.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { sealTransfersJob } from '../jobs/ledger-jobs.ts';
import { insertTestUser } from '../testing/test-user.ts';
import { measureLedger, proveLedger } from './verify-ledger.ts';

const lines: { level: string; minutes: number }[] = [];
const log = createLog(
  { logLevel: 'info', logFormat: 'json' },
  { destination: { write: (line) => void lines.push(JSON.parse(line)) } },
);

test('metrics and log report a wrong ledger, and sealing that has stalled', async () => {
  const { db } = await testDatabase();
  const registry = new Registry();
  measureLedger(registry, db);
  const read = async (name: string) =>
    (await registry.getSingleMetricAsString(name)).split('\n').find((line) => line.startsWith(name));
  const unsealed = () => read('bakehouse_oldest_unsealed_transfer_seconds');
  const tamper = (statement: string) =>
    db.transaction().execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql.raw(statement).execute(tx);
    });
  const seal = () =>
    sealTransfersJob.run({ db, log } as unknown as Services, {}, AbortSignal.timeout(60_000));

  expect(await unsealed()).toMatch(/ 0$/);
  expect(await read('bakehouse_ledger_proof_ok')).toBeUndefined();
  await insertTestUser(db, { grantMicro: 100n });
  await tamper("update ledger_transfers set created_at = created_at - interval '12 minutes'");
  expect(await unsealed()).toMatch(/ 72\d\.\d+$/);
  await db.transaction().execute(async (older) => {
    await sql`select pg_current_xact_id()`.execute(older);
    await seal();
  });
  expect(lines).toEqual([expect.objectContaining({ level: 'warn', minutes: 12 })]);

  await seal();
  expect(await unsealed()).toMatch(/ 0$/);
  expect(lines).toHaveLength(1);
  await proveLedger(db);
  expect(await read('bakehouse_ledger_proof_ok')).toMatch(/ 1$/);
  await tamper('update ledger_accounts set credits_posted = credits_posted + 1');
  await proveLedger(db);
  expect(await read('bakehouse_ledger_proof_ok')).toMatch(/ 0$/);
}, 30_000);
