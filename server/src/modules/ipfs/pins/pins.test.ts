import { deleteAsset, updateAsset } from '@bakehouse/contract/assets';
import { getIpfs } from '@bakehouse/contract/ipfs';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { insertMissingPins } from '../queries.ts';
import { fakeKubo } from '../testing/fake-kubo.ts';
import { fakePinningService } from '../testing/fake-pinning-service.ts';
import { runIpfsWork } from '../testing/run-ipfs-work.ts';

const kubo = await fakeKubo('node token');
const pinning = await fakePinningService('service token');
const ipfs = {
  kubo: { url: kubo.url, token: 'node token' },
  pinning: { url: pinning.url, token: 'service token' },
};
const server = await testServer({ config: { ipfs } });
const { services } = server;
const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
const { create, upload } = assetCalls(server);

let id: string;
beforeEach(async () => {
  // A unique file, so that tests do not share CIDs.
  id = await create(ada, { use_ipfs: true });
  await upload(ada, id, 'a.txt', id);
});

const read = async (asset = id, as = ada) => {
  const { revisions } = await server.request(getIpfs, { params: { id: asset }, query: {} }, { as });
  const [{ cid, pins } = { cid: null, pins: [] }] = revisions;
  const of = (name: string) => pins.find(({ service }) => service === name);
  return { cid: cid ?? '', node: of('kubo'), service: of('pinning_service') };
};
const work = async (rounds = 1) => {
  for (let round = 0; round < rounds; round += 1) await runIpfsWork(services);
};
const choose = (use_ipfs: boolean, asset = id, as: TestUser = ada) =>
  server.request(updateAsset, { params: { id: asset }, body: { use_ipfs } }, { as });
const remove = (asset = id, as: TestUser = ada) =>
  server.request(deleteAsset, { params: { id: asset } }, { as });
const requestOf = (cid: string) => [...pinning.pins.values()].find(({ pin }) => pin.cid === cid);
const pinsLeft = async (cid: string) => {
  const { rows } = await sql`select id from ipfs_pins where cid = ${cid}`.execute(services.db);
  return rows.length;
};

test('pins all blocks at the node, then requests a pin at the service', async () => {
  await work(2);
  const queued = await read();
  expect(kubo.pinned.get(queued.cid)).toEqual({ 'a.txt': id });
  expect(queued).toMatchObject({
    node: { state: 'pinned', reason: null, checked_at: expect.any(String) },
    service: { state: 'queued' },
  });
  const request = requestOf(queued.cid);
  // The request names neither the content nor addresses that cannot be reached.
  expect(request?.pin).toEqual({
    cid: queued.cid,
    name: 'bakehouse',
    origins: ['/dns4/node.example/tcp/4001/p2p/12D3'],
  });
  expect(kubo.connected).toContain('/dns4/pins.example/tcp/4001/p2p/12D4');
  if (request) request.status = 'pinning';
  await work();
  expect((await read()).service).toMatchObject({ state: 'pinning' });
  if (request) request.status = 'pinned';
  await work();
  expect((await read()).service).toMatchObject({ state: 'pinned', reason: null });
  expect(pinning.pins.size).toBe(1);
  pinning.pins.clear();
});

test('no pin is requested at the service while the node does not have the content', async () => {
  kubo.isAway = true;
  await work();
  kubo.isAway = false;
  const { node, service } = await read();
  expect(node).toMatchObject({ state: 'failed', reason: 'The IPFS node does not answer' });
  expect(service).toMatchObject({ state: 'queued', reason: 'Waits for the IPFS node' });
  await work(2);
  expect(await read()).toMatchObject({ node: { state: 'pinned' }, service: { state: 'queued' } });
});

test.each([
  [{ status: 500, message: 'no space\nleft' }, 'The IPFS node refused it: no space left'],
  [{ text: '' }, 'The IPFS node stopped the import'],
  [{ text: '<html>' }, 'The IPFS node stopped the import'],
  [
    { text: JSON.stringify({ Root: { Cid: { '/': 'bafy' }, PinErrorMsg: 'block not found' } }) },
    'The IPFS node refused it: block not found',
  ],
])("records a failed import's reason and retries: %o", async (answer, reason) => {
  kubo.nextImport = answer;
  await work();
  expect((await read()).node).toMatchObject({ state: 'failed', reason });
  await work();
  expect((await read()).node).toMatchObject({ state: 'pinned', reason: null });
});

test.each([
  [{ status: 401, body: {} }, 'The pinning service refused the token of this server'],
  [
    { status: 409, body: { error: { reason: 'INSUFFICIENT_FUNDS', details: 'top up' } } },
    'The pinning service refused it: INSUFFICIENT_FUNDS: top up',
  ],
  [{ status: 502, body: 'bad gateway' }, 'The pinning service refused it: status 502'],
  [{ status: 200, body: { results: 'none' } }, 'The pinning service sent an unexpected response'],
])("records a service's error and retries: %o", async (refusal, reason) => {
  pinning.refusal = refusal;
  await work();
  pinning.refusal = null;
  expect(await read()).toMatchObject({ node: { state: 'pinned' }, service: { state: 'failed', reason } });
  await work();
  expect((await read()).service).toMatchObject({ state: 'queued', reason: null });
});

test('requests a pin again if the service could not fetch the content', async () => {
  await work(2);
  const { cid } = await read();
  const first = requestOf(cid);
  Object.assign(first ?? {}, { status: 'failed', info: { status_details: 'no peer has it' } });
  await work();
  const second = requestOf(cid);
  expect(second?.requestid).not.toBe(first?.requestid);
  expect((await read()).service).toMatchObject({ state: 'queued' });
});

test('finds a request whose response was lost, without making a second one', async () => {
  await work(2);
  const { cid } = await read();
  await sql`update ipfs_pins set request_id = null, state = 'queued' where cid = ${cid}`.execute(services.db);
  await work();
  expect([...pinning.pins.values()].filter(({ pin }) => pin.cid === cid)).toHaveLength(1);
});

test('pins content again that the node has lost', async () => {
  await work();
  const { cid } = await read();
  kubo.pinned.delete(cid);
  await work();
  expect(kubo.pinned.has(cid)).toBe(true);
});

test.each([
  ['the dataset is deleted', () => remove()],
  ['IPFS is disabled', () => choose(false)],
])('unpins at all services when %s', async (_when, end) => {
  await work(2);
  const { cid } = await read();
  await end();
  await work();
  expect([kubo.pinned.has(cid), requestOf(cid), await pinsLeft(cid)]).toEqual([false, undefined, 0]);
});

test('retries a failed unpin', async () => {
  await work();
  const { cid } = await read();
  await remove();
  kubo.isAway = true;
  await work();
  kubo.isAway = false;
  expect(kubo.pinned.has(cid)).toBe(true);
  await work();
  expect(kubo.pinned.has(cid)).toBe(false);
});

test('content of two datasets stays pinned until both are deleted', async () => {
  const other = await create(bob, { use_ipfs: true });
  await upload(bob, other, 'a.txt', id);
  await work();
  const { cid } = await read();
  expect(await read(other, bob)).toMatchObject({ cid, node: { state: 'pinned' } });
  await remove();
  await work();
  expect(kubo.pinned.has(cid)).toBe(true);
  await remove(other, bob);
  await work();
  expect(kubo.pinned.has(cid)).toBe(false);
});

test('pins again after disabling and enabling', async () => {
  await work();
  const { cid } = await read();
  await choose(false);
  await choose(true);
  await work();
  expect(kubo.pinned.has(cid)).toBe(true);
  expect((await read()).node).toMatchObject({ state: 'pinned' });
});

test('a newly configured service gets the existing pins', async () => {
  await work();
  const { cid } = await read();
  await sql`delete from ipfs_pins where cid = ${cid} and service = 'pinning_service'`.execute(services.db);
  await insertMissingPins(services.db, ['kubo', 'pinning_service']);
  expect(await pinsLeft(cid)).toBe(2);
});
