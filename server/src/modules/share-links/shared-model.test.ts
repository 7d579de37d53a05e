import { deleteAsset, updateAsset } from '@bakehouse/contract/assets';
import { saveRestrictedModel } from '@bakehouse/contract/restricted-models';
import { getModelShare, getShared, shareModel, unshareModel } from '@bakehouse/contract/share-links';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { saveCardData } from '../assets/card/card-data.ts';
import { assetCalls, refusalOf } from '../assets/testing/asset-calls.ts';
import { insertModel } from '../deployments/testing/test-models.ts';
import { linkPages } from './testing/link-pages.ts';

/* The links of models. */

const server = await testServer();
const { request } = server;
const { db } = server.services;
const { page, tokenOf, statusesOf, shown } = await linkPages(server);
const { create } = assetCalls(server);

const CARD =
  '---\nlicense: mit\npipeline_tag: text-generation\nbase_model: bakery/rye\n---\n# Rye\n\nBakes *bread*.\n';
const FILES = { 'README.md': CARD, 'model.safetensors': 'weights' };

let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

const share = async (id: string, as = ada) => (await request(shareModel, { params: { id } }, { as })).share;
const insert = async (title: string, as = ada) =>
  (await insertModel(server.services, as, title, FILES)).assetId;
const publish = (id: string, as = ada) =>
  request(updateAsset, { params: { id }, body: { is_published: true } }, { as });

test('a link shows what a model is and its card, and no file', async () => {
  const id = await insert('Rye model');
  await request(updateAsset, { params: { id }, body: { details: 'Knows *rye*' } }, { as: ada });
  expect(await request(getModelShare, { params: { id } }, { as: ada })).toEqual({ share: null });
  const made = await share(id);
  expect(await share(id)).toEqual(made);
  expect(await request(getModelShare, { params: { id } }, { as: ada })).toEqual({ share: made });
  const token = tokenOf(made);
  // No upload has parsed this card.
  const { sha256 } = await db
    .selectFrom('asset_files')
    .select('sha256')
    .where('asset_id', '=', id)
    .where('path', '=', 'README.md')
    .executeTakeFirstOrThrow();
  await saveCardData(server.services, sha256, { license: 'mit', pipeline_tag: 'text-generation' });
  expect(await shown('model', token)).toEqual({
    ...{ kind: 'model', title: 'Rye model', maker: 'Ada', details: 'Knows *rye*', card: CARD },
    card_metadata: expect.objectContaining({ license: 'mit', pipeline_tag: 'text-generation' }),
    ...{ model_id: null, made_from: null, source: null, samples: null, created_at: expect.any(String) },
    ...{ file_count: 2, size_bytes: CARD.length + 'weights'.length },
  });
  const text = await (await server.send(getShared, { params: { token } })).text();
  for (const secret of [id, ada.userId, 'ada-1', 'safetensors']) expect(text).not.toContain(secret);
  const { payload } = await page(token);
  for (const line of [
    '<title>Rye model, a model by Ada · Bakehouse</title>',
    '<meta property="og:title" content="Rye model, a model by Ada" />',
    '<meta property="og:description" content="Knows *rye*" />',
  ])
    expect(payload).toContain(line);
});

test('one that is published leads to its page here', async () => {
  const id = await insert('Open model');
  const token = tokenOf(await share(id));
  await publish(id);
  expect((await shown('model', token)).model_id).toBe(id);
});

test('a link that is revoked ends at once, and both ends are in the audit log', async () => {
  const id = await insert('Revoked model');
  const token = tokenOf(await share(id));
  expect(await statusesOf(token)).toEqual([200, 200]);
  const revoke = async () => (await server.send(unshareModel, { params: { id } }, { as: ada })).status;
  expect([await revoke(), await revoke()]).toEqual([204, 204]);
  expect(await statusesOf(token)).toEqual([404, 404]);
  expect(tokenOf(await share(id))).not.toBe(token);
  const entries = await db
    .selectFrom('audit_log')
    .select('action')
    .where(sql<string>`detail ->> 'asset_id'`, '=', id)
    .where('action', 'in', ['asset.link_shared', 'asset.link_revoked'])
    .orderBy('id')
    .execute();
  expect(entries.map(({ action }) => action)).toEqual([
    ...['asset.link_shared', 'asset.link_revoked', 'asset.link_shared'],
  ]);
});

test('a link ends with its model, and leaves nothing', async () => {
  const id = await insert('Deleted model');
  const token = tokenOf(await share(id));
  await request(deleteAsset, { params: { id } }, { as: ada });
  expect(await statusesOf(token)).toEqual([404, 404]);
  await expect(shown('model', token)).rejects.toThrow('This link does not work.');
  const left = await db.selectFrom('share_links').select('id').where('asset_id', '=', id).execute();
  expect(left).toEqual([]);
});

test('only its owner makes, sees and revokes a link, also of one that others read', async () => {
  const id = await insert('Model of Ada');
  const token = tokenOf(await share(id));
  const tries = async () =>
    Promise.all(
      [shareModel, getModelShare, unshareModel].map(
        async (endpoint) => (await server.send(endpoint, { params: { id } }, { as: bob })).status,
      ),
    );
  expect(await tries()).toEqual([404, 404, 404]);
  await publish(id);
  expect(await tries()).toEqual([403, 403, 403]);
  expect(await statusesOf(token)).toEqual([200, 200]);
});

test('a dataset has no link, nor has a restricted model, and a link ends when one is restricted', async () => {
  const dataset = await create(ada, { title: 'Rows' });
  expect(await refusalOf(await server.send(shareModel, { params: { id: dataset } }, { as: ada }))).toEqual({
    ...{ status: 409, code: 'conflict' },
    message: 'Only models are shared by a link. Share a dataset with users by their usernames, or publish it',
  });
  const olga = await signUpOperator(server, 'Olga');
  const id = await insert('Closed model', olga);
  const token = tokenOf(await share(id, olga));
  const body = { name: 'Closed', asset_id: id };
  await request(saveRestrictedModel, { params: { modelId: 'ovens/closed' }, body }, { as: olga });
  expect(await statusesOf(token)).toEqual([404, 404]);
  expect(await refusalOf(await server.send(shareModel, { params: { id } }, { as: olga }))).toMatchObject({
    status: 409,
    message: expect.stringContaining('granted, not shared'),
  });
});
