import { createAsset, deleteAsset, getAsset, listAssets, updateAsset } from '@bakehouse/contract/assets';
import { listNotifications } from '@bakehouse/contract/notifications';
import * as contract from '@bakehouse/contract/restricted-models';
import { search } from '@bakehouse/contract/search';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';

const modelId = 'meta/crumb-70b';

let server: TestServer;
let olga: TestUser;
let ada: TestUser;
let bob: TestUser;

beforeAll(async () => {
  server = await testServer();
  olga = await signUpOperator(server, 'Olga');
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

const save = (body: object = {}, id = modelId, as = olga) =>
  server.request(
    contract.saveRestrictedModel,
    { params: { modelId: id }, body: { name: 'Crumb 70B', family: 'crumb', tags: ['rye'], ...body } },
    { as },
  );
const read = (as: TestUser, id = modelId) =>
  server.request(contract.getRestrictedModel, { params: { modelId: id } }, { as });
const ask = (as: TestUser, message = 'To bake with it') =>
  server.request(contract.requestAccess, { params: { modelId }, body: { message } }, { as });
const requests = async (query: object = {}) =>
  (await server.request(contract.listAccessRequests, { query }, { as: olga })).requests;
const decide = (requestId: string, decision: 'granted' | 'refused') =>
  server.request(contract.decideAccessRequest, { params: { requestId }, body: { decision } }, { as: olga });
const notified = (as: TestUser) =>
  server.request(listNotifications, { params: { userId: as.userId } }, { as });
const makeModel = (as: TestUser) =>
  server.request(
    createAsset,
    { body: { dataset_type: 'MODEL', title: 'Weights of crumb', user_id: as.userId } },
    { as },
  );

test('an operator adds a model under an id with slashes, and every user finds it', async () => {
  expect(await save()).toMatchObject({ id: modelId, is_available: false, dataset_id: null });
  expect(await read(ada)).toEqual({
    id: modelId,
    name: 'Crumb 70B',
    family: 'crumb',
    tags: ['rye'],
    details: '',
    access: 'none',
    is_available: false,
    dataset_id: null,
  });
  for (const query of ['CRUMB', 'meta/cr', 'rye']) {
    const { results } = await server.request(search, { query: { query } }, { as: ada });
    expect(results).toMatchObject([{ kind: 'restricted_model', id: modelId, name: 'Crumb 70B' }]);
  }
  const similar = await server.request(search, { query: { query: 'crmub 70b' } }, { as: ada });
  expect(similar).toMatchObject({ results: [{ id: modelId }], similar: true });
  await save({ name: 'Other' }, 'meta/other');
  const page = await server.request(contract.listRestrictedModels, { query: { limit: 1 } }, { as: ada });
  expect(page).toMatchObject({ restricted_models: [{ id: modelId }], next_cursor: modelId });
  const next = { query: { cursor: modelId } };
  expect(await server.request(contract.listRestrictedModels, next, { as: ada })).toMatchObject({
    restricted_models: [{ id: 'meta/other' }],
    next_cursor: null,
  });
  await expect(save({}, 'no spaces here')).rejects.toThrow('owner/name');
  await expect(save({ name: '' })).rejects.toThrow('Name is required');
});

test('a change preserves absent fields, and only a new model needs a name', async () => {
  const id = 'meta/crust';
  await save({ details: 'A crust' }, id);
  const change = (body: object, to = id) =>
    server.request(contract.saveRestrictedModel, { params: { modelId: to }, body }, { as: olga });
  expect(await change({ tags: ['wheat'] })).toMatchObject({
    name: 'Crumb 70B',
    family: 'crumb',
    tags: ['wheat'],
    details: 'A crust',
  });
  expect(await change({ name: 'Crust' })).toMatchObject({ name: 'Crust', tags: ['wheat'] });
  await expect(change({ tags: ['wheat'] }, 'meta/new')).rejects.toMatchObject({ status: 400 });
  await expect(read(olga, 'meta/new')).rejects.toMatchObject({ status: 404 });
  await server.send(contract.deleteRestrictedModel, { params: { modelId: id } }, { as: olga });
});

test('an operator grants or rejects an access request, with an audit log entry for each step', async () => {
  await expect(ask(ada, '  ')).rejects.toThrow('Describe how you plan to use the model');
  expect((await ask(ada)).access).toBe('requested');
  expect((await read(bob)).access).toBe('none');
  await expect(ask(ada)).rejects.toMatchObject({ status: 409 });
  const [request] = await requests({ state: 'requested' });
  expect(request).toMatchObject({
    model_id: modelId,
    model_name: 'Crumb 70B',
    user_id: ada.userId,
    email: ada.email,
    message: 'To bake with it',
    state: 'requested',
    decided_at: null,
  });
  const id = request?.request_id ?? '';
  expect(await decide(id, 'refused')).toMatchObject({ state: 'refused', decided_at: expect.any(String) });
  expect((await read(ada)).access).toBe('refused');
  expect(await requests({ state: 'requested' })).toEqual([]);
  expect((await ask(ada, 'For bread after all')).access).toBe('requested');
  expect(await decide(id, 'granted')).toMatchObject({ state: 'granted', message: 'For bread after all' });
  expect((await read(ada)).access).toBe('granted');
  await expect(ask(ada)).rejects.toThrow('You already have access to Crumb 70B');
  const link = '/model/source/meta%2Fcrumb-70b/description';
  expect(await notified(ada)).toMatchObject([
    { message: 'You now have access to Crumb 70B', link },
    { message: 'An operator refused your request for access to Crumb 70B', link },
  ]);
  const { rows } = await sql<{ action: string; user_id: string }>`
    select action, user_id from audit_log where detail->>'model_id' = ${modelId} order by id`.execute(
    server.services.db,
  );
  expect(rows.filter(({ user_id }) => user_id === ada.userId).map(({ action }) => action)).toEqual([
    'access.requested',
    'access.requested',
  ]);
  expect(rows.filter(({ user_id }) => user_id === olga.userId).map(({ action }) => action)).toEqual([
    'restricted_model.saved',
    'access.refused',
    'access.granted',
  ]);
  await expect(decide(ada.userId, 'granted')).rejects.toMatchObject({ status: 404 });
});

test('lists requests page by page, newest first', async () => {
  await ask(bob);
  const first = await server.request(contract.listAccessRequests, { query: { limit: 1 } }, { as: olga });
  expect(first.requests).toMatchObject([{ user_id: bob.userId }]);
  const query = { cursor: first.next_cursor ?? '' };
  expect(await requests(query)).toMatchObject([{ user_id: ada.userId }]);
});

test('granted users, and only they, may read and use the files while they have access', async () => {
  const others = await makeModel(ada);
  await expect(save({ asset_id: others })).rejects.toMatchObject({ status: 400 });
  const assetId = await makeModel(olga);
  const open = (as: TestUser) => server.request(getAsset, { params: { id: assetId } }, { as });
  const listed = async (as: TestUser) => {
    const query = { types: 'MODEL', owner: as.userId, include_starter: 'true', search: 'weights' } as const;
    const { datasets } = await server.request(listAssets, { query }, { as });
    return datasets.map(({ dataset_id }) => dataset_id);
  };
  await expect(open(ada)).rejects.toMatchObject({ status: 404 });
  expect(await save({ asset_id: assetId })).toMatchObject({ is_available: true, dataset_id: assetId });
  expect(await save({ name: 'Crumb 70B' })).toMatchObject({ is_available: true });
  expect(await read(ada)).toMatchObject({ is_available: true, dataset_id: assetId });
  expect(await read(bob)).toMatchObject({ is_available: true, dataset_id: null });
  expect(await open(ada)).toMatchObject({ title: 'Weights of crumb', user_id: olga.userId });
  expect(await listed(ada)).toEqual([assetId, others]);
  expect(await listed(olga)).toEqual([assetId]);
  await expect(open(bob)).rejects.toMatchObject({ status: 404 });
  expect(await listed(bob)).toEqual([]);

  const change = { params: { id: assetId }, body: { details: 'mine now' } };
  await expect(server.request(updateAsset, change, { as: ada })).rejects.toMatchObject({ status: 403 });
  const gone = await server.send(deleteAsset, { params: { id: assetId } }, { as: ada });
  expect(gone.status).toBe(403);

  const mine = (await requests()).find(({ user_id }) => user_id === ada.userId);
  await decide(mine?.request_id ?? '', 'refused');
  const [latest] = await notified(ada);
  expect(latest).toMatchObject({ message: 'An operator revoked your access to Crumb 70B' });
  await expect(open(ada)).rejects.toMatchObject({ status: 404 });
  expect(await listed(ada)).toEqual([others]);

  await server.send(deleteAsset, { params: { id: assetId } }, { as: olga });
  expect(await read(bob)).toMatchObject({ is_available: false });
});

test("deletes a removed model's requests", async () => {
  const remove = () => server.send(contract.deleteRestrictedModel, { params: { modelId } }, { as: olga });
  expect((await remove()).status).toBe(204);
  expect((await remove()).status).toBe(404);
  expect(await requests()).toEqual([]);
  await expect(read(ada)).rejects.toMatchObject({ status: 404 });
});
