import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../testing/recording-database.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { countRecentAudit } from '../accounts/queries.ts';
import { listAuditEntries } from '../accounts/steps.ts';
import { listSends } from '../billing/transfers.ts';

const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db, asked } = recording;
const page = { before: 10n ** 17n, limit: 51 };

beforeAll(async () => {
  await sql`
    insert into audit_log (action) select 'asset.created' from generate_series(1, 20000)`.execute(db);
  await sql`
    insert into audit_log (user_id, action, at)
    select 'ada', case when n % 10 = 0 then 'mail.sent' else 'asset.created' end, now() - n * interval '1 minute'
    from generate_series(1, 5000) n`.execute(db);
  await sql`
    insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs)
    select 'grants', 'revenue:llm_inference', 1, 'charge', 'Tokens', '{}' from generate_series(1, 20000)`.execute(
    db,
  );
  await sql`analyze audit_log, ledger_transfers`.execute(db);
});

/** Returns PostgreSQL's plan of the query. */
async function planOf(list: () => Promise<unknown[]>): Promise<string> {
  asked.length = 0;
  expect(await list()).toEqual([]);
  const { text = '', values = [] } = asked[0] ?? {};
  const { rows } = await db.executeQuery<Record<'QUERY PLAN', string>>({
    ...sql`select 1`.compile(db),
    sql: `explain ${text}`,
    parameters: values,
  });
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test('finds changes with a rare noun through an index', async () => {
  expect(await planOf(() => listAuditEntries(db, { ...page, noun: 'price' }))).toContain('audit_log_by_noun');
});

test('finds sent credits among many charges through an index, of all users and of one', async () => {
  const ofAll = await planOf(() => listSends(db, page));
  expect(ofAll).toMatch(/Index Scan Backward using ledger_transfers_sent(_by)? /);
  expect(ofAll).not.toContain('Seq Scan on ledger_transfers');
  expect(await planOf(() => listSends(db, { ...page, userId: 'ada' }))).toContain('ledger_transfers_sent');
});

test("counts a user's requests within the hour without reading all their entries", async () => {
  const count = () => db.transaction().execute((tx) => countRecentAudit(tx, 'ada', 'mail.sent'));
  expect(await count()).toBe(5);
  const [plan] = await plansOf(recording, count, { analyze: true });
  expect(plan).toMatch(/using audit_log_by_action .*rows=5\b/);
  expect(plan).not.toContain('Rows Removed by Filter');
});
