import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import { createAsset } from '@bakehouse/contract/assets';
import { createCodes, redeemCode } from '@bakehouse/contract/codes';
import { contactUs } from '@bakehouse/contract/contact';
import { exportData } from '@bakehouse/contract/privacy';
import { generateReferral, validateReferral } from '@bakehouse/contract/referrals';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { personalColumns } from './personal-columns.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});

async function read(who: TestUser): Promise<{ text: string; data: Record<string, unknown[]> }> {
  const answer = await server.send(exportData, {}, { headers: { cookie: who.cookie } });
  expect(answer.headers.get('content-disposition')).toMatch(
    /^attachment; filename="bakehouse-\d{4}-\d\d-\d\d\.json"$/,
  );
  const text = await answer.text();
  return { text, data: JSON.parse(text) as Record<string, unknown[]> };
}

/** Creates data of every kind for the user. Rows are inserted directly if a call would take too long. */
async function fill(kim: TestUser): Promise<{ secrets: string[]; dataset: string }> {
  const { userId } = kim;
  const call = { as: kim };
  const own = { user_id: userId };
  const dataset = await server.request(
    createAsset,
    { body: { ...own, dataset_type: 'RAW', title: 'Rows' } },
    call,
  );
  const model = { ...own, dataset_type: 'MODEL' as const, title: 'Loaf' };
  await server.request(createAsset, { body: model }, call);
  await server.request(contactUs, { body: { ...own, subject: 'Dough', message: 'It does not rise.' } }, call);
  const key = await server.request(
    createApiKey,
    { params: { userId }, body: { name: 'Old script', scopes: ['read'] } },
    call,
  );
  await server.request(revokeApiKey, { params: { keyId: key.api_key.id } }, call);
  const [code = ''] = (
    await server.request(
      createCodes,
      { body: { amount: '5', note: 'for a friend' } },
      { as: await signUpOperator(server), idempotencyKey: 'codes' },
    )
  ).codes;
  await server.request(redeemCode, { body: { ...own, code } }, { ...call, idempotencyKey: 'redeem' });
  const { db } = server.services;
  const insert = sql`
    with model as (
      insert into restricted_models (id, name, family, tags, details) values ('rye', 'Rye', 'bread', '{}', '') returning id
    ), request as (
      insert into access_requests (restricted_model_id, user_id, message) select id, ${userId}, 'I bake' from model
    ), configuration as (
      insert into training_configurations (user_id, name, payload) values (${userId}, 'Mine', '{}')
    ), purchase as (
      insert into purchases (user_id, usd_cents, amount_micro, session_id, status)
      values (${userId}, 100, 25000000, 'cs_1', 'expired')
    ), hold as (
      select hold_id from ledger_hold(${`user:${userId}`}, 'revenue:llm_inference', 1, 'charge', 'Chat', '{}', '2100-01-01', 'chat')
    ), usage as (
      insert into usage_windows (id, user_id, source, leader_id, hold_id, opened_at)
      select gen_random_uuid(), ${userId}, 'model:crumb', gen_random_uuid(), hold_id, now() from hold
    )
    insert into notifications (user_id, kind, data)
    select ${userId}, 'credits_bought', jsonb_build_object('amount_micro', n::text) from generate_series(1, 250) n`;
  await insert.execute(db);
  return { dataset, secrets: [kim.apiKey, key.secret, code] };
}

test("is one JSON file with all of the caller's data and no secrets", async () => {
  const [kim, lea] = [await server.signUp('Kim'), await server.signUp('Lea')];
  const { dataset, secrets } = await fill(kim);
  const foreign = { user_id: lea.userId, dataset_type: 'RAW' as const, title: 'Hers' };
  const hers = await server.request(createAsset, { body: foreign }, { as: lea });
  const { text, data } = await read(kim);
  expect(data).toMatchObject({
    profile: { email: kim.email },
    sessions: [{ is_current: true }],
    sign_in_methods: [{ provider: 'credential' }],
    api_keys: [
      { for_web_app: true },
      { name: 'Old script', scopes: ['read'], revoked_at: expect.any(String) },
    ],
    datasets: [{ dataset_id: dataset }],
    models: [{ title: 'Loaf' }],
    configurations: [{ config_name: 'Mine' }],
    runs: [],
    batches: [],
    drafts: [],
    fine_tuning_jobs: [],
    deployments: [],
    generations: [],
    access_requests: [{ restricted_model_id: 'rye', message: 'I bake', state: 'requested' }],
    balance: { balance: '130' },
    usage_windows: [{ source: 'model:crumb', used: '0' }],
    purchases: [{ status: 'expired', usd: '1' }],
    redeemed_codes: [{ amount: '5' }],
    contact_messages: [{ subject: 'Dough', message: 'It does not rise.' }],
  });
  expect(data.transactions).toMatchObject([
    { status: 'pending' },
    { description: expect.stringContaining('Code ending in') },
    { description: 'Starting credits', amount: '125' },
  ]);
  expect(data.notifications).toHaveLength(250);
  expect(data.activity).toContainEqual(expect.objectContaining({ action: 'session.created' }));
  const { rows: hidden } = await sql<{ secret: string }>`
    select token as secret from sessions where user_id = ${kim.userId}
    union all select password from sign_in_methods where user_id = ${kim.userId}
    union all select encode(sha256, 'hex') from api_keys where user_id = ${kim.userId}`.execute(
    server.services.db,
  );
  const notIn = [...secrets, ...hidden.map(({ secret }) => secret), hers, lea.email];
  for (const secret of notIn) expect(text).not.toContain(secret);
});

test('writes nothing, not even an invitation code', async () => {
  const mia = await server.signUp('Mia');
  expect((await read(mia)).data.invitations).toMatchObject({
    referral_code: null,
    came_by: null,
    referrals: [],
  });
  const { db } = server.services;
  expect(
    await db.selectFrom('referral_codes').selectAll().where('user_id', '=', mia.userId).execute(),
  ).toEqual([]);
  const { referral_code } = await server.request(generateReferral, {}, { as: mia });
  const nik = await server.signUp('Nik');
  await server.request(validateReferral, { query: { referral_code } }, { as: nik });
  expect((await read(mia)).data.invitations).toMatchObject({ referral_code, referrals: [{ bonus: '125' }] });
  expect((await read(nik)).data.invitations).toMatchObject({ came_by: { bonus: '125' } });
});

test('each column that refers to a user is exported, or has a reason not to be', async () => {
  const { db } = server.services;
  const { rows } = await sql<{ name: string }>`
    select c.conrelid::regclass || '.' || a.attname as name
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
    where c.contype = 'f' and c.confrelid = 'users'::regclass
    union
    -- Some name a user without a foreign key.
    select table_name || '.' || column_name
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and column_name like '%user_id'
    order by 1`.execute(db);
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(personalColumns).sort());
  const { data } = await read(await server.signUp('Ola'));
  for (const [column, fate] of Object.entries(personalColumns)) {
    if ('section' in fate) expect(data, column).toHaveProperty(fate.section);
  }
});
