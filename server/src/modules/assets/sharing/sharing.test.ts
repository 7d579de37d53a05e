import { randomUUID } from 'node:crypto';
import * as contract from '@bakehouse/contract/asset-shares';
import { deleteAsset, listAssets, updateAsset } from '@bakehouse/contract/assets';
import { listLoras } from '@bakehouse/contract/loras';
import { listNotifications } from '@bakehouse/contract/notifications';
import { saveRestrictedModel } from '@bakehouse/contract/restricted-models';
import { search } from '@bakehouse/contract/search';
import { sql } from 'kysely';
import { beforeAll, expect, test, vi } from 'vitest';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { insertModel } from '../../deployments/testing/test-models.ts';
import { purgeUser } from '../../privacy/purge-user.ts';
import { lockAsset } from '../queries.ts';
import { lockAssetsForUse } from '../remove-asset.ts';
import { assetCalls, refusalOf } from '../testing/asset-calls.ts';
import { deleteShare } from './shares.ts';

const server = await testServer();
const { db } = server.services;
const { create, upload, get } = assetCalls(server);

let ada: TestUser;
let bob: TestUser;
let cy: TestUser;
beforeAll(async () => {
  [ada, bob, cy] = [await server.signUp('Ada'), await server.signUp('Bob'), await server.signUp('Cy')];
});

const nameOf = async ({ userId }: TestUser) => {
  const row = await db.selectFrom('users').select('username').where('id', '=', userId).executeTakeFirst();
  return row?.username ?? '';
};
const trySharing = (id: string, username: string, as = ada) =>
  server.send(contract.shareAsset, { params: { id }, body: { username } }, { as });
const share = async (id: string, user: TestUser) =>
  server.request(
    contract.shareAsset,
    { params: { id }, body: { username: await nameOf(user) } },
    { as: ada },
  );
const unshare = async (id: string, user: TestUser, as = ada) =>
  server.send(contract.unshareAsset, { params: { id, username: await nameOf(user) } }, { as });
const publish = (id: string, is_published: boolean, as = ada) =>
  server.request(updateAsset, { params: { id }, body: { is_published } }, { as });
const listed = async (as: TestUser, query: object) => {
  const { datasets } = await server.request(listAssets, { query: { owner: as.userId, ...query } }, { as });
  return datasets.map(({ title }) => title);
};
const found = async (as: TestUser, query: string) =>
  (await server.request(search, { query: { query } }, { as })).results;
const notified = async (as: TestUser) =>
  (await server.request(listNotifications, { params: { userId: as.userId }, query: {} }, { as })).filter(
    ({ kind }) => kind === 'asset_shared',
  );
const auditOf = async (user: TestUser, id: string) => {
  const rows = await db
    .selectFrom('audit_log')
    .select(['action', 'detail'])
    .where('user_id', '=', user.userId)
    .where(sql<string>`detail ->> 'asset_id'`, '=', id)
    .orderBy('id')
    .execute();
  return rows.map(({ action }) => action);
};

test('an asset is private before it is published and after it is unpublished', async () => {
  const id = await create(ada, { title: 'Sourdough starters' });
  await upload(ada, id, 'rows.csv', 'a,b\n1,2\n');
  await expect(get(bob, id)).rejects.toMatchObject({ status: 404 });
  expect(await found(bob, 'sourdough')).toEqual([]);

  expect(await publish(id, true)).toMatchObject({ is_published: true, is_shared: false });
  expect(await get(bob, id)).toMatchObject({ is_published: true, owner_username: await nameOf(ada) });
  expect(await found(bob, 'sourdough')).toMatchObject([{ id, owner_username: await nameOf(ada) }]);
  expect(await found(ada, 'sourdough')).toMatchObject([{ id, owner_username: null }]);
  expect(await found(bob, 'sourdoug starter')).toHaveLength(1);
  // Lists include it only if requested.
  expect(await listed(bob, { types: 'RAW' })).toEqual([]);
  expect(await listed(bob, { types: 'RAW', include_starter: 'true' })).toEqual([]);
  expect(await listed(bob, { types: 'RAW', whose: 'published' })).toEqual(['Sourdough starters']);
  expect(await listed(bob, { types: 'RAW', whose: 'all', search: 'dough' })).toEqual(['Sourdough starters']);
  expect(await listed(ada, { types: 'RAW', whose: 'all' })).toEqual(['Sourdough starters']);

  await publish(id, false);
  await expect(get(bob, id)).rejects.toMatchObject({ status: 404 });
  expect(await found(bob, 'sourdough')).toEqual([]);
  expect(await listed(bob, { whose: 'all' })).toEqual([]);
  await publish(id, false);
  expect((await auditOf(ada, id)).filter((action) => action.endsWith('published'))).toEqual([
    'asset.published',
    'asset.unpublished',
  ]);
});

test('no other user publishes or shares it', async () => {
  const id = await create(ada, { title: 'Hers alone' });
  await expect(publish(id, true, bob)).rejects.toMatchObject({ status: 404 });
  expect((await trySharing(id, await nameOf(bob), bob)).status).toBe(404);
  await share(id, bob);
  await expect(publish(id, true, bob)).rejects.toMatchObject({ status: 403 });
  expect(await refusalOf(await trySharing(id, await nameOf(cy), bob))).toMatchObject({
    status: 403,
    message: 'Only its owner can change this dataset',
  });
  const shares = await server.send(contract.listShares, { params: { id } }, { as: bob });
  expect(shares.status).toBe(403);
  await expect(get(cy, id)).rejects.toMatchObject({ status: 404 });
});

test('a user with whom it is shared can read it, is notified, and finds it', async () => {
  const id = await create(ada, { title: 'Rye for friends' });
  const { shares } = await share(id, bob);
  expect(shares).toEqual([{ username: await nameOf(bob), shared_at: expect.any(String) }]);
  expect(await get(ada, id)).toMatchObject({ is_shared: true, is_published: false });
  expect(await get(bob, id)).toMatchObject({ title: 'Rye for friends' });
  expect(await found(bob, 'rye for')).toMatchObject([{ id }]);
  expect(await listed(bob, { whose: 'shared' })).toContain('Rye for friends');
  expect(await listed(cy, { whose: 'shared' })).toEqual([]);
  const by = await nameOf(ada);
  expect(await notified(bob)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        message: `${by} shared the dataset Rye for friends with you`,
        link: `/dataset/${id}/description`,
      }),
    ]),
  );
  // Repeating it has no effect and sends no notification.
  const before = (await notified(bob)).length;
  expect((await share(id, bob)).shares).toHaveLength(1);
  expect(await notified(bob)).toHaveLength(before);

  expect((await unshare(id, bob)).status).toBe(204);
  await expect(get(bob, id)).rejects.toMatchObject({ status: 404 });
  expect(await found(bob, 'rye for')).toEqual([]);
  expect(await refusalOf(await unshare(id, bob))).toMatchObject({ status: 404 });
  expect(await auditOf(ada, id)).toEqual(['asset.created', 'asset.shared', 'asset.unshared']);
});

test('a user with whom it is shared can end the sharing', async () => {
  const id = await create(ada, { title: 'Unwanted' });
  await share(id, bob);
  await share(id, cy);
  expect((await unshare(id, cy, bob)).status).toBe(403);
  expect((await unshare(id, bob, bob)).status).toBe(204);
  await expect(get(bob, id)).rejects.toMatchObject({ status: 404 });
  expect(await get(cy, id)).toMatchObject({ title: 'Unwanted' });
});

test('shares by username, without revealing the user of an email address', async () => {
  const id = await create(ada, { title: 'For whom' });
  const { email } = await db
    .selectFrom('users')
    .select('email')
    .where('id', '=', bob.userId)
    .executeTakeFirstOrThrow();
  const answers = [email, 'nobody@example.com'].map(async (name) => refusalOf(await trySharing(id, name)));
  const [known, unknown] = await Promise.all(answers);
  expect(known).toEqual({
    status: 400,
    code: 'invalid_request',
    message: 'Enter a username, not an email address',
  });
  expect(unknown).toEqual(known);
  expect((await refusalOf(await trySharing(id, 'no-such-baker'))).message).toBe(
    'No user has the username no-such-baker',
  );
  expect((await refusalOf(await trySharing(id, await nameOf(ada)))).message).toBe('You already own this');
  expect((await trySharing(id, '')).status).toBe(400);
  expect((await trySharing(id, bob.userId)).status).toBe(400);
  expect(await get(ada, id)).toMatchObject({ is_shared: false });
});

test('rejects and does not store one user more than the maximum', async () => {
  const id = await create(ada, { title: 'For too many' });
  const prefix = randomUUID().slice(0, 8);
  await sql`
    with made as (
      insert into users (id, name, username, email)
      select ${prefix} || n, 'x', ${prefix} || n, ${prefix} || n || '@example.com'
      from generate_series(1, ${contract.SHARES_MAX}::int) n returning id
    )
    insert into asset_shares (asset_id, user_id) select ${id}::uuid, id from made`.execute(db);
  const before = (await notified(bob)).length;
  expect(await refusalOf(await trySharing(id, await nameOf(bob)))).toMatchObject({ status: 409 });
  await expect(get(bob, id)).rejects.toMatchObject({ status: 404 });
  expect(await notified(bob)).toHaveLength(before);
});

test('many shares do not fill the notification list', async () => {
  const dan = await server.signUp('Dan');
  for (let n = 0; n < 22; n += 1) await share(await create(ada, { title: `Batch ${n}` }), dan);
  expect(await notified(dan)).toHaveLength(20);
  expect(await listed(dan, { whose: 'shared' })).toHaveLength(22);
});

test('a deleted user shares nothing, and nothing is shared with the user', async () => {
  const eve = await server.signUp('Eve');
  const hers = await create(eve, { title: 'Of Eve' });
  await publish(hers, true, eve);
  const id = await create(ada, { title: 'With Eve' });
  await share(id, eve);
  await db
    .updateTable('users')
    .set({ deleted_at: new Date(), username: 'deleted-eve' })
    .where('id', '=', eve.userId)
    .execute();
  expect((await server.request(contract.listShares, { params: { id } }, { as: ada })).shares).toEqual([]);
  await purgeUser(server.services, eve.userId);
  await expect(get(bob, hers)).rejects.toMatchObject({ status: 404 });
  expect(await get(ada, id)).toMatchObject({ is_shared: false });
});

test('an operator grants access to a restricted model, which cannot be published or shared', async () => {
  const olga = await signUpOperator(server, 'Olga');
  const { assetId } = await insertModel(server.services, olga, 'Closed', { 'config.json': '{}' });
  const restrict = (modelId: string, asset_id: string) =>
    server.request(
      saveRestrictedModel,
      { params: { modelId }, body: { name: 'Closed', asset_id } },
      { as: olga },
    );
  await restrict('ovens/closed', assetId);
  await expect(publish(assetId, true, olga)).rejects.toMatchObject({ status: 409 });
  expect(await refusalOf(await trySharing(assetId, await nameOf(bob), olga))).toMatchObject({
    status: 409,
    message: expect.stringContaining('granted, not shared'),
  });
  const { assetId: shared } = await insertModel(server.services, olga, 'Shared', { 'config.json': '{}' });
  expect((await trySharing(shared, await nameOf(bob), olga)).status).toBe(200);
  await expect(restrict('ovens/shared', shared)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('Stop sharing it first'),
  });
  await unshare(shared, bob, olga);
  await restrict('ovens/shared', shared);
  const { assetId: open } = await insertModel(server.services, olga, 'Open', { 'config.json': '{}' });
  await publish(open, true, olga);
  await expect(restrict('ovens/open', open)).rejects.toMatchObject({ status: 409 });
});

test('allows work on an asset while it is shared, and rejects work that waited while the share was deleted', async () => {
  const id = await create(ada, { title: 'Kept' });
  const keep = (userId: string) => inTransaction(db, (tx) => lockAssetsForUse(tx, { ids: [id], userId }));
  await share(id, bob);
  await keep(ada.userId);
  await keep(bob.userId);
  await expect(keep(cy.userId)).rejects.toMatchObject({ code: 'not_found' });
  let late: Promise<unknown> = Promise.resolve();
  await inTransaction(db, async (tx) => {
    await lockAsset(tx, id);
    await deleteShare(tx, { assetId: id, userId: bob.userId });
    late = keep(bob.userId);
    late.catch(() => undefined);
    await vi.waitFor(async () => {
      const { rows: waiting } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
      expect(waiting).toHaveLength(1);
    });
  });
  await expect(late).rejects.toMatchObject({ code: 'not_found' });
});

test('lists LoRAs of others with their owner', async () => {
  const files = { 'pytorch_lora_weights.safetensors': 'x' };
  const [mine, theirs, closed] = [
    await insertModel(server.services, bob, 'Mine', files),
    await insertModel(server.services, ada, 'Theirs', files),
    await insertModel(server.services, ada, 'Closed', files),
  ];
  await publish(theirs.assetId, true);
  const loras = async (query: object = {}) => {
    const call = { params: { userId: bob.userId }, query };
    return (await server.request(listLoras, call, { as: bob })).loras;
  };
  expect(await loras()).toEqual([
    { id: theirs.assetId, title: 'Theirs', owner_username: await nameOf(ada) },
    { id: mine.assetId, title: 'Mine', owner_username: null },
  ]);
  expect(await loras({ search: 'HEIR' })).toMatchObject([{ title: 'Theirs' }]);
  expect(await loras({ cursor: theirs.assetId })).toMatchObject([{ title: 'Mine' }]);
  await expect(loras({ cursor: closed.assetId })).rejects.toMatchObject({ status: 400 });
});

test("names only readable sources of other users' models", async () => {
  const [base, dataset] = [
    await create(ada, { dataset_type: 'MODEL', title: 'Base of Ada' }),
    await create(ada, { title: 'Secret recipes' }),
  ];
  const tuned = await create(ada, { dataset_type: 'MODEL', title: 'Tuned by Ada' });
  await sql`
    insert into asset_lineage (asset_id, run_id, base_asset_id, base_revision_id, base_title, dataset_asset_id,
      dataset_revision_id, dataset_title)
    values (${tuned}, ${tuned}, ${base}, ${base}, 'Base of Ada', ${dataset}, ${dataset}, 'Secret recipes')`.execute(
    db,
  );
  await publish(tuned, true);
  await publish(base, true);
  expect((await get(bob, tuned)).lineage).toMatchObject({
    base_model: { title: 'Base of Ada' },
    dataset: null,
  });
  expect((await get(ada, tuned)).lineage).toMatchObject({ dataset: { title: 'Secret recipes' } });
});

test("returns the parent id of another user's model only if it is readable", async () => {
  const parent = await create(ada, { dataset_type: 'MODEL', title: 'Hidden base' });
  const words = { dataset_type: 'MODEL', title: 'Adapter of a hidden base', parent_dataset_id: parent };
  const adapter = await create(ada, words);
  await publish(adapter, true);
  const seen = async (as: TestUser) => {
    const query = { owner: as.userId, whose: 'all' as const, search: 'Adapter of a hidden base' };
    const { datasets } = await server.request(listAssets, { query }, { as });
    return [(await get(as, adapter)).parent_dataset_id, ...datasets.map((one) => one.parent_dataset_id)];
  };
  expect(await seen(bob)).toEqual([null, null]);
  expect(await seen(ada)).toEqual([parent, parent]);
  await share(parent, bob);
  expect(await seen(bob)).toEqual([parent, parent]);
});

test('cannot be deleted while other users who may read it have derived models, which the error does not name', async () => {
  const base = await create(ada, { dataset_type: 'MODEL', title: 'Stood upon' });
  await publish(base, true);
  const tuned = await create(bob, { dataset_type: 'MODEL', title: 'Secret of Bob' });
  await sql`
    insert into asset_lineage (asset_id, run_id, base_asset_id, base_revision_id, base_title, dataset_asset_id,
      dataset_revision_id, dataset_title)
    values (${tuned}, ${tuned}, ${base}, ${base}, 'Stood upon', ${tuned}, ${tuned}, 'x')`.execute(db);
  const remove = () => server.send(deleteAsset, { params: { id: base } }, { as: ada });
  expect(await refusalOf(await remove())).toEqual({
    status: 409,
    code: 'conflict',
    message:
      'A model of another user was fine-tuned from it. End their access first: from then on they cannot be deployed.',
  });
  await publish(base, false);
  expect((await remove()).status).toBe(204);
});
