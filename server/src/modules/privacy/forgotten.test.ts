import { contactUs } from '@bakehouse/contract/contact';
import { generateReferral } from '@bakehouse/contract/referrals';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { testServer } from '../../testing/test-server.ts';
import { closeAccount } from '../accounts/deletion/close-account.ts';
import { watchBalances } from '../billing/low-balance-queries.ts';
import { purgeUser } from './purge-user.ts';

/** Tables in which rows of a purged user remain, with the reason. */
const KEPT: Record<string, string> = {
  assets: 'hidden immediately; rows are deleted in batches, or stay while others’ models depend on them',
  chat_requests: 'usage that transfers refer to',
  credit_code_redemptions: 'a code is redeemed once',
  credit_codes: 'codes created by an operator',
  data_readings: 'deleted with the dataset; only the user’s own and public ones are read',
  deployments: 'usage that transfers refer to',
  ledger_accounts: 'transfers are never deleted',
  price_changes: 'prices set by an operator',
  purchases: 'payments; without the link to the receipt',
  referrals: 'paid bonuses',
  revisions: 'deleted with their dataset or model',
  runs: 'usage that transfers refer to',
  usage_windows: 'usage that transfers refer to',
  user_storage: 'a number maintained by a trigger',
  workloads: 'usage that transfers refer to',
};

/** Tables with rows of the test's user before the purge. After it, they must have none. */
const FORGOTTEN = [
  'access_requests',
  'api_keys',
  'bulk_answers',
  'contact_messages',
  'conversations',
  'fine_tuning_jobs',
  'generation_outputs',
  'generation_turns',
  'generations',
  'asset_shares',
  'hub_clones',
  'hub_tokens',
  'hub_xorbs',
  'input_pictures',
  'licence_acceptances',
  'low_balance_watch',
  'notifications',
  'onboarding_steps',
  'referral_codes',
  'responses',
  'run_checkpoints',
  'run_samples',
  'sessions',
  'share_links',
  'sign_in_methods',
  'tracked_runs',
  'trackers',
  'training_configurations',
  'uploads',
  'x_accounts',
  'x_posts',
];

test('each table that refers to a user is empty after a purge, or has a reason to keep rows', async () => {
  const server = await testServer();
  const { db, clock, config } = server.services;
  const ada = await server.signUp('Ada');
  const { userId } = ada;
  const { rows: tables } = await sql<{ name: string }>`
    select distinct c.conrelid::regclass::text as name
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'users'::regclass and a.attname <> 'decided_by'
    order by 1`.execute(db);
  expect(tables.map(({ name }) => name)).toEqual([...Object.keys(KEPT), ...FORGOTTEN].sort());

  const body = { user_id: userId, subject: 'Dough', message: 'It does not rise.' };
  await server.request(contactUs, { body }, { as: ada });
  await server.request(generateReferral, {}, { as: ada });
  await fillTables(db, userId);

  const left = async () => {
    const counts: Record<string, number> = {};
    for (const table of [...FORGOTTEN, 'idempotency_keys']) {
      const { rows } = await sql<{ rows: number }>`
        select count(*)::int as rows from ${sql.table(table)} where user_id = ${userId}`.execute(db);
      counts[table] = rows[0]?.rows ?? 0;
    }
    return counts;
  };
  expect(Object.entries(await left()).filter(([, rows]) => rows === 0)).toEqual([]);
  await inTransaction(db, (tx) => closeAccount(tx, { userId, now: clock.now(), config }));
  expect(await purgeUser(server.services, userId)).toBe(true);
  // Run the step of the scheduled job.
  await inTransaction(db, (tx) => watchBalances(tx, { limitMicro: 0n, moved: null }));
  expect(Object.entries(await left()).filter(([, rows]) => rows > 0)).toEqual([]);
  const bought = await db
    .selectFrom('purchases')
    .select('receipt_url')
    .where('user_id', '=', userId)
    .execute();
  expect(bought).toEqual([{ receipt_url: null }]);
});

/** Inserts a row of the user into each table that the calls above do not fill. */
async function fillTables(db: Database, userId: string): Promise<void> {
  await sql`insert into restricted_models (id, name, family, tags, details)
    values ('rye', 'Rye', 'bread', '{}', '')`.execute(db);
  await sql`insert into generation_turns (user_id, queue, served_at)
    values (${userId}, 'starter:paris', now())`.execute(db);
  await sql`insert into access_requests (restricted_model_id, user_id, message)
    values ('rye', ${userId}, 'I bake')`.execute(db);
  await sql`insert into notifications (user_id, kind, data)
    values (${userId}, 'credits_bought', '{"amount_micro": "1"}')`.execute(db);
  await sql`insert into x_accounts
    values (${userId}, '7', 'ada', 'secret', 'secret', now(), now())`.execute(db);
  await sql`insert into conversations values
    (${userId}, 'crumb', 1, gen_random_uuid(), '{}', 2, now(), gen_random_uuid())`.execute(db);
  await sql`insert into responses values ('resp_1', ${userId}, '[]', '{}', 2, now())`.execute(db);
  await sql`insert into bulk_answers (id, kind, user_id, created_at, check_at)
    values (gen_random_uuid(), 'draft', ${userId}, now(), now())`.execute(db);
  await sql`insert into fine_tuning_jobs values (gen_random_uuid(), ${userId}, 'rye', '{"shop": "north"}')`.execute(
    db,
  );
  await sql`insert into hub_clones (user_id, repo_id, dataset_type, commit_id, check_at, created_at)
    values (${userId}, 'ada/rye', 'MODEL', repeat('a', 40), now(), now())`.execute(db);
  await sql`
    with asset as (
      insert into assets (starter_slug, starter_task, is_starter, dataset_type, title, details, category, tags)
      values ('rye', 'text', true, 'MODEL', 'Rye', '', '', '{}') returning id
    )
    insert into asset_shares (asset_id, user_id) select id, ${userId} from asset`.execute(db);
  await sql`insert into hub_tokens values (${userId}, 'secret', 'ada', now())`.execute(db);
  await sql`insert into trackers (user_id, service, project, connected_at)
    values (${userId}, 'wandb', 'loaves', now())`.execute(db);
  await sql`insert into x_posts values (${userId}, now(), '8')`.execute(db);
  await sql`insert into onboarding_steps (user_id, step) values (${userId}, 'create_model')`.execute(db);
  await sql`insert into training_configurations (user_id, name, payload) values (${userId}, 'Mine', '{}')`.execute(
    db,
  );
  await sql`insert into idempotency_keys (user_id, key, operation, input_sha256)
    values (${userId}, 'k', 'contactUs', 'x')`.execute(db);
  await sql`insert into licence_acceptances (user_id, licence, version, accepted_at)
    values (${userId}, 'flux-1-dev-non-commercial', '1', now())`.execute(db);
  const purchase = { user_id: userId, usd_cents: 100, amount_micro: 25_000_000n };
  await db
    .insertInto('purchases')
    .values({ ...purchase, status: 'expired', receipt_url: 'https://pay.example/receipt' })
    .execute();
  await inTransaction(db, (tx) => watchBalances(tx, { limitMicro: 1n, moved: null }));
  await sql`
    with blob as (insert into blobs (sha256, size_bytes) values (repeat('a', 64), 1) returning sha256),
    picture as (
      insert into generations (user_id, generator, provider, model, prompt, parameters, seed, request_sha256, state, steps,
        hold_id, held_micro, charged_micro, check_at, created_at, ended_at)
      values (${userId}, 'paris', 'own', 'paris', 'A loaf', '{}', 1, 'x', 'completed', 1,
        gen_random_uuid(), 1, 1, now(), now(), now())
      returning id
    ),
    share as (
      insert into share_links (generation_id, user_id) select id, ${userId} from picture
    ),
    upload as (
      insert into uploads (user_id, store_key, size_bytes, part_bytes) values (${userId}, 'key', 1, 1)
    ),
    xorb as (
      insert into hub_xorbs (user_id, session, hash, sha256, size_bytes)
      select ${userId}, '2026-11-26', repeat('b', 64), blob.sha256, 1 from blob
    ),
    input as (
      insert into input_pictures (generation_id, user_id, sha256, media_type, size_bytes, width, height, created_at)
      select picture.id, ${userId}, blob.sha256, 'image/png', 1, 1, 1, now() from picture, blob
    )
    insert into generation_outputs (generation_id, user_id, sha256, media_type, size_bytes, width, height)
    select picture.id, ${userId}, blob.sha256, 'image/png', 1, 1, 1 from picture, blob`.execute(db);
  // This row belongs to a run. Foreign keys are disabled, so that the run needs no hold and no workload.
  await db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`
      insert into runs (id, kind, user_id, title, model_asset_id, base_asset_id, base_revision_id, base_title,
        dataset_asset_id, dataset_revision_id, dataset_title, file_name, parameters, price_id, devices, quote, work_flops,
        hold_id, held_micro, hold_expires_at, created_at, ceiling_micro, unit_price_micro)
      select id, 'pictures', ${userId}, 'Chalk', id, id, id, '', id, id, '', '', '{}', 'training:CPU', 1, '{}', 1,
        id, 1, now(), now(), 1, 1
      from gen_random_uuid() id`.execute(tx);
  });
  await sql`
    insert into run_samples (run_id, step, number, user_id, sha256, size_bytes, width, height)
    select id, 0, 0, ${userId}, repeat('a', 64), 1, 1, 1 from runs where user_id = ${userId}`.execute(db);
  await sql`
    insert into run_checkpoints (run_id, step, user_id, sha256, size_bytes)
    select id, 1, ${userId}, repeat('a', 64), 1 from runs where user_id = ${userId}`.execute(db);
  await sql`
    insert into tracked_runs (run_id, service, user_id)
    select id, 'wandb', ${userId} from runs where user_id = ${userId}`.execute(db);
}
