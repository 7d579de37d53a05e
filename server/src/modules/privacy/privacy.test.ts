import { getMe } from '@bakehouse/contract/accounts';
import { createAsset, getAsset, updateAsset } from '@bakehouse/contract/assets';
import { getBalance, listTransactions, transferTokens } from '@bakehouse/contract/credits';
import { deleteAccount, previewDeletion } from '@bakehouse/contract/privacy';
import { generateReferral, validateReferral } from '@bakehouse/contract/referrals';
import { cancelRun, listRuns } from '@bakehouse/contract/runs';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { createFakeDriver, idleUntilStopped } from '../../engine/drivers/fake/fake-driver.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { authClient, password } from '../../testing/auth-client.ts';
import { type TestServer, type TestUser, testServer } from '../../testing/test-server.ts';
import { PAYMENTS_ACCOUNT, userAccount } from '../billing/ledger/accounts.ts';
import { chargeBack } from '../billing/ledger/given-credits.ts';
import { transfer } from '../billing/ledger/transfer.ts';
import { buyForTest } from '../billing/testing/test-user.ts';
import { verifyLedger } from '../billing/verification/verify-ledger.ts';
import { emptySafetensors, goodData } from '../fine-tuning/testing/test-run.ts';
import { purgeDeletedJob, purgeUser } from './purge-user.ts';

let server: TestServer;
beforeAll(async () => {
  const driver = createFakeDriver({
    capacity: { 'cpu:run': 1, 'cpu:deployment': 1 },
    script: idleUntilStopped,
  });
  server = await testServer({ driver, readData: async () => goodData });
});

const remove = (who: TestUser, body: object = {}) =>
  server.request(deleteAccount, { body: { password, ...body } }, { headers: { cookie: who.cookie } });
const preview = (who: TestUser) => server.request(previewDeletion, {}, { headers: { cookie: who.cookie } });
const purge = () => purgeDeletedJob.run(server.services, {}, new AbortController().signal);
const rowOf = (who: TestUser) =>
  server.services.db.selectFrom('users').selectAll().where('id', '=', who.userId).executeTakeFirstOrThrow();
const assetsOf = async (who: TestUser) => {
  const { db } = server.services;
  const rows = await db.selectFrom('assets').select('id').where('owner_user_id', '=', who.userId).execute();
  return rows.map(({ id }) => id);
};
const accountOf = (who: TestUser) =>
  server.services.db
    .selectFrom('ledger_accounts')
    .select(['credits_posted', 'debits_posted', 'debits_pending', 'given'])
    .where('owner_user_id', '=', who.userId)
    .where('kind', '=', 'user')
    .executeTakeFirstOrThrow();

async function create(as: TestUser, type: 'RAW' | 'MODEL', files: Record<string, Buffer>): Promise<string> {
  const body = { dataset_type: type, title: `${type} of somebody`, user_id: as.userId };
  const id = await server.request(createAsset, { body }, { as });
  for (const [name, bytes] of Object.entries(files)) {
    const form = new FormData();
    form.set('data_file', new Blob([new Uint8Array(bytes)]), name);
    const url = `${server.url}/api/v1/asset/${id}/upload`;
    const answer = await fetch(url, { method: 'POST', headers: { 'x-api-key': as.apiKey }, body: form });
    expect(answer.status).toBe(200);
  }
  return id;
}

const rows = { 'rows.csv': Buffer.from('question,answer\na,b\n') };
const base = { 'config.json': Buffer.from('{}'), 'model.safetensors': emptySafetensors() };

function startRun(as: TestUser, dataset: string, model: string): Promise<string> {
  const payload = {
    asset_id: dataset,
    base_model: model,
    model_name: 'my model',
    file_name: 'rows.csv',
    user_id: as.userId,
    input_column: 'question',
    output_column: 'answer',
  };
  const body = { dataset_type: 'MODEL' as const, title: 'my model', user_id: as.userId };
  return server.request(createAsset, { body: { ...body, fine_tune_payload: payload } }, { as });
}

describe('deleting an account', () => {
  test('requires the password and reports what prevents the deletion', async () => {
    const ada = await server.signUp('Ada');
    await expect(remove(ada, { password: 'not the password' })).rejects.toMatchObject({
      status: 400,
      body: { error: { message: 'Wrong password', param: 'password' } },
    });
    await expect(remove(ada, { password: undefined })).rejects.toMatchObject({ status: 400 });
    await buyForTest(server.services.db, ada.userId, 12_500_000n);
    expect(await preview(ada)).toMatchObject({
      bought: '12.5',
      given: '125',
      owed: '0',
      asks_password: true,
    });
    await expect(remove(ada)).rejects.toMatchObject({
      status: 409,
      body: {
        error: {
          message: '12.5 BGL can still be transferred. Transfer it to someone, or forfeit it',
          param: 'give_up_max',
        },
      },
    });
    const message =
      'You agreed to forfeit 12.499999 BGL, but 12.5 BGL can be transferred now. Transfer it to someone, or forfeit it';
    await expect(remove(ada, { give_up_max: '12.499999' })).rejects.toMatchObject({
      status: 409,
      body: { error: { message, param: 'give_up_max' } },
    });
    expect((await server.request(getMe, {}, { as: ada })).id).toBe(ada.userId);
  });

  test('waits for a pending payment', async () => {
    const ada = await server.signUp('Ada');
    const { db } = server.services;
    const { id } = await db
      .insertInto('purchases')
      .values({ user_id: ada.userId, usd_cents: 100, amount_micro: 25_000_000n, session_id: 'cs_open' })
      .returning('id')
      .executeTakeFirstOrThrow();
    await expect(remove(ada)).rejects.toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('A payment is pending') } },
    });
    // An open payment this old counts as abandoned.
    await db
      .updateTable('purchases')
      .set({ created_at: new Date('2020-01-01') })
      .where('id', '=', id)
      .execute();
    await remove(ada);
    expect((await rowOf(ada)).deleted_at).not.toBeNull();
  });

  test('shows a small debt with all its digits', async () => {
    const ada = await server.signUp('Ada');
    const amountMicro = 3_400n;
    const taken = { userId: ada.userId, amountMicro, description: 'Taken back', idempotencyKey: null };
    await inTransaction(server.services.db, (tx) => chargeBack(tx, taken));
    expect(await preview(ada)).toMatchObject({ owed: '0.0034' });
    const message = expect.stringContaining('You owe 0.0034 BGL ($0.00014). Get credits first');
    await expect(remove(ada)).rejects.toMatchObject({ status: 409, body: { error: { message } } });
  });

  test('counts bought credits that arrive while the request runs', async () => {
    const ada = await server.signUp('Ada');
    const { db } = server.services;
    let removing: Promise<unknown> = Promise.resolve();
    await inTransaction(db, async (tx) => {
      await transfer(tx, {
        debitAccountId: PAYMENTS_ACCOUNT,
        creditAccountId: userAccount(ada.userId),
        amountMicro: 12_500_000n,
        kind: 'purchase',
        description: 'Purchase',
        idempotencyKey: null,
      });
      removing = remove(ada);
      removing.catch(() => undefined);
      await vi.waitFor(async () => {
        const { rows: waiting } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        expect(waiting).toHaveLength(1);
      }, 10_000);
    });
    await expect(removing).rejects.toMatchObject({
      status: 409,
      body: { error: { param: 'give_up_max' } },
    });
    expect((await rowOf(ada)).deleted_at).toBeNull();
  });

  test('blocks sign-in, frees the address and anonymizes the username', async () => {
    const bob = await server.signUp('Bob');
    const { username } = await rowOf(bob);
    const { referral_code: code } = await server.request(generateReferral, {}, { as: bob });
    await remove(bob);
    await expect(server.request(getMe, {}, { as: bob })).rejects.toMatchObject({ status: 401 });
    await expect(preview(bob)).rejects.toMatchObject({ status: 401 });
    const { post } = authClient(server);
    expect((await post('/sign-in/email', { email: bob.email, password })).status).toBe(401);
    const row = await rowOf(bob);
    expect(row).toMatchObject({ name: 'Deleted user', image: null, email_verified: false });
    expect(JSON.stringify(row)).not.toContain(username);
    expect(JSON.stringify(row)).not.toContain(bob.email);
    await purge();
    const { db } = server.services;
    expect((await rowOf(bob)).purged_at).not.toBeNull();
    for (const table of [
      'sessions',
      'api_keys',
      'sign_in_methods',
      'notifications',
      'referral_codes',
    ] as const) {
      const left = await db.selectFrom(table).select('user_id').where('user_id', '=', bob.userId).execute();
      expect(left, table).toEqual([]);
    }
    expect(code).not.toBe('');
    const again = await post('/sign-up/email', { name: 'Bob', username, email: bob.email, password });
    expect(again.status).toBe(200);
  });

  test('deletes assets and credits, keeps transfers, and leaves the ledger balanced', async () => {
    const [cora, dan] = [await server.signUp('Cora'), await server.signUp('Dan')];
    const { db } = server.services;
    await buyForTest(db, cora.userId, 50_000_000n);
    const send = { user_id: cora.userId, recipient_id: dan.userId, amount: '10' };
    await server.request(transferTokens, { body: send }, { as: cora });
    await create(cora, 'RAW', rows);
    await create(cora, 'MODEL', base);
    expect(await preview(cora)).toMatchObject({ datasets: 1, models: 1, running: 0, bought: '40' });
    await remove(cora, { give_up_max: '40' });
    await purge();
    expect(await assetsOf(cora)).toEqual([]);
    const account = await accountOf(cora);
    expect(account.credits_posted).toBe(account.debits_posted);
    expect(account).toMatchObject({ debits_pending: 0n, given: 0n });
    const kept = await db
      .selectFrom('ledger_transfers')
      .select('id')
      .where('debit_account_id', '=', `user:${cora.userId}`)
      .where('credit_account_id', '=', `user:${dan.userId}`)
      .execute();
    expect(kept).toHaveLength(1);
    expect(await verifyLedger(db)).toMatchObject({ ok: true });
  });

  test("leaves the name neither in other users' statements nor in sealed rows", async () => {
    const [lou, max] = [await server.signUp('Lou'), await server.signUp('Max')];
    const { db } = server.services;
    const { referral_code } = await server.request(generateReferral, {}, { as: lou });
    await server.request(validateReferral, { query: { referral_code } }, { as: max });
    await buyForTest(db, max.userId, 50_000_000n);
    const send = { user_id: max.userId, recipient_id: lou.userId, amount: '10' };
    await server.request(transferTokens, { body: send }, { as: max });
    const linesOf = async (who: TestUser) => {
      const params = { userId: who.userId };
      const { transactions } = await server.request(listTransactions, { params }, { as: who });
      return transactions.map(({ description }) => description);
    };
    const { username } = await rowOf(max);
    const others = ['Starting credits'];
    expect(await linesOf(lou)).toEqual([`Received from ${username}`, `Invitation of ${username}`, ...others]);
    expect(await linesOf(max)).toContain(`Invitation by ${(await rowOf(lou)).username}`);
    await remove(max, { give_up_max: '40' });
    expect(await linesOf(lou)).toEqual([
      'Received from a deleted user',
      'Invitation of a deleted user',
      ...others,
    ]);
    const { rows: named } = await sql`select 1 from ledger_transfers
      where description ~ ${`\\m${username}\\M`} or refs::text ~ ${`\\m${username}\\M`}`.execute(db);
    expect(named).toEqual([]);
  });

  test('ends running work before the credits that it holds are forfeited', async () => {
    const eve = await server.signUp('Eve');
    const [dataset, model] = [await create(eve, 'RAW', rows), await create(eve, 'MODEL', base)];
    await startRun(eve, dataset, model);
    await server.app.engine.pass();
    expect(await preview(eve)).toMatchObject({ running: 1 });
    expect((await accountOf(eve)).debits_pending).toBeGreaterThan(0n);
    await remove(eve);
    expect(await purgeUser(server.services, eve.userId)).toBe(false);
    await vi.waitFor(
      async () => {
        await server.app.engine.pass();
        expect(await purgeUser(server.services, eve.userId)).toBe(true);
      },
      { interval: 50 },
    );
    expect(await assetsOf(eve)).toEqual([]);
    const account = await accountOf(eve);
    expect(account.credits_posted).toBe(account.debits_posted);
    expect(await verifyLedger(server.services.db)).toMatchObject({ ok: true });
  });

  test("hides assets that other users' runs use, and deletes them when the runs have ended", async () => {
    const [fay, gus] = [await server.signUp('Fay'), await server.signUp('Gus')];
    const { db } = server.services;
    const [model, dataset] = [await create(fay, 'MODEL', base), await create(fay, 'RAW', rows)];
    for (const id of [model, dataset])
      await server.request(updateAsset, { params: { id }, body: { is_published: true } }, { as: fay });
    const tuned = await startRun(gus, dataset, model);
    await server.request(generateReferral, {}, { as: fay });
    await remove(fay);
    expect(await purgeUser(server.services, fay.userId)).toBe(false);
    expect((await assetsOf(fay)).toSorted()).toEqual([model, dataset].toSorted());
    const reading = server.request(getAsset, { params: { id: dataset } }, { as: gus });
    await expect(reading).rejects.toMatchObject({ status: 404 });
    // Data that no run uses is deleted immediately.
    for (const table of ['api_keys', 'notifications', 'referral_codes'] as const) {
      const left = await db.selectFrom(table).select('user_id').where('user_id', '=', fay.userId).execute();
      expect(left, table).toEqual([]);
    }
    const { runs } = await server.request(listRuns, { query: {} }, { as: gus });
    await server.request(cancelRun, { params: { runId: runs[0]?.run_id ?? '' } }, { as: gus });
    // The run was cancelled, so its model cannot be deployed and does not block the purge.
    await vi.waitFor(
      async () => {
        await server.app.engine.pass();
        expect(await purgeUser(server.services, fay.userId)).toBe(true);
      },
      { interval: 50 },
    );
    expect(await assetsOf(fay)).toEqual([]);
    expect(await assetsOf(gus)).toEqual([tuned]);
  });

  test('ends a sign-in that started before the deletion', async () => {
    const oda = await server.signUp('Oda');
    const { db } = server.services;
    const sessions = () => db.selectFrom('sessions').select('id').where('user_id', '=', oda.userId).execute();
    const session = (id: string) => ({
      id,
      user_id: oda.userId,
      token: id,
      expires_at: new Date('2100-01-01'),
      updated_at: new Date(),
    });
    let removing: Promise<unknown> = Promise.resolve();
    await inTransaction(db, async (tx) => {
      await tx.insertInto('sessions').values(session('before')).execute();
      removing = remove(oda);
      removing.catch(() => undefined);
      await vi.waitFor(async () => {
        const { rows: waiting } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        expect(waiting).toHaveLength(1);
      }, 10_000);
    });
    await removing;
    expect(await sessions()).toEqual([]);
    await expect(db.insertInto('sessions').values(session('after')).execute()).rejects.toThrow('was deleted');
    expect(await sessions()).toEqual([]);
  });

  test('continues with the next user if a purge fails', async () => {
    const [mia, nik] = [await server.signUp('Mia'), await server.signUp('Nik')];
    const { db } = server.services;
    await create(mia, 'RAW', rows);
    await sql`create function keep_assets() returns trigger language plpgsql as $$
      begin raise exception 'this asset stays'; end $$`.execute(db);
    await sql`create trigger keep_assets before update on assets for each row
      when (old.owner_user_id = ${sql.lit(mia.userId)}) execute function keep_assets()`.execute(db);
    await remove(mia);
    await remove(nik);
    await purge();
    expect((await rowOf(mia)).purged_at).toBeNull();
    expect((await rowOf(nik)).purged_at).not.toBeNull();
    await sql`drop trigger keep_assets on assets`.execute(db);
    await purge();
    expect((await rowOf(mia)).purged_at).not.toBeNull();
  });

  test('refuses transfers to a deleted user', async () => {
    const [hal, ida] = [await server.signUp('Hal'), await server.signUp('Ida')];
    await buyForTest(server.services.db, hal.userId, 50_000_000n);
    await remove(ida);
    const { username } = await rowOf(ida);
    for (const recipient_id of [ida.userId, username]) {
      const body = { user_id: hal.userId, recipient_id, amount: '1' };
      await expect(server.request(transferTokens, { body }, { as: hal })).rejects.toMatchObject({
        status: 404,
      });
    }
    expect(await server.request(getBalance, { params: { userId: hal.userId } }, { as: hal })).toMatchObject({
      sendable: '50',
    });
  });

  test('requires a recent sign-in from users without a password', async () => {
    const jon = await server.signUp('Jon');
    const { db, clock } = server.services;
    await db.deleteFrom('sign_in_methods').where('user_id', '=', jon.userId).execute();
    const age = (minutes: number) =>
      db
        .updateTable('sessions')
        .set({ created_at: new Date(clock.now().getTime() - minutes * 60_000) })
        .where('user_id', '=', jon.userId)
        .execute();
    await age(30);
    expect(await preview(jon)).toMatchObject({ asks_password: false });
    await expect(remove(jon, { password: undefined })).rejects.toMatchObject({ status: 403 });
    await age(1);
    await remove(jon, { password: undefined });
    await expect(preview(jon)).rejects.toMatchObject({ status: 401 });
  });
});
