import { randomUUID } from 'node:crypto';
import { getImageDeployment, imageCalls, listImageDeployments } from '@bakehouse/contract/deployments/images';
import { getWork } from '@bakehouse/contract/work';
import { expect, test, vi } from 'vitest';
import { testServing } from '../../../testing/test-serving.ts';
import { insertFlux } from '../testing/test-models.ts';

const { server, stub, clock } = await testServing();
const ada = await server.signUp();
const as = { as: ada };
const params = { userId: ada.userId };
const titles = ({ deployments }: { deployments: { title: string }[] }) =>
  deployments.map(({ title }) => title);
const work = () => server.request(getWork, {}, as);
const list = (query: object = {}) => server.request(listImageDeployments, { params, query }, as);

async function deploy(title: string, endpoint: typeof imageCalls.flux.deploy) {
  const { assetId } = await insertFlux(server.services, ada, title);
  const body = { user_id: ada.userId, model_id: assetId };
  return (await server.request(endpoint, { body }, as)).pod_id;
}

const untilRunning = (podId: string) =>
  vi.waitFor(
    async () =>
      expect((await server.request(getImageDeployment, { params: { podId } }, as)).status).toBe('running'),
    { interval: 50 },
  );

test('lists image deployments of every kind by page, filtered by words, status and use', async () => {
  expect(await list()).toEqual({ deployments: [], next_cursor: null });
  const first = await deploy('Rye Painter', imageCalls.flux.deploy);
  await untilRunning(first);
  clock.advance({ seconds: 1 });
  let open = () => {};
  stub.gate = new Promise((resolve) => {
    open = resolve;
  });
  const second = await deploy('Rye Editor', imageCalls['flux-kontext'].deploy);

  const page = await list({ limit: 1 });
  expect(titles(page)).toEqual(['Rye Editor']);
  expect(page.next_cursor).toBe(second);
  expect(await list({ limit: 1, cursor: second })).toMatchObject({
    deployments: [{ title: 'Rye Painter', kind: 'flux' }],
    next_cursor: null,
  });
  await expect(list({ cursor: randomUUID() })).rejects.toThrow(/cursor must be the next_cursor/);
  // The page has as many usable deployments as requested, although unusable ones are newer.
  expect(titles(await list({ only_running: 'true', limit: 1 }))).toEqual(['Rye Painter']);
  expect(titles(await list({ search: 'EDITOR' }))).toEqual(['Rye Editor']);
  expect(
    titles(await server.request(imageCalls.flux.list, { params, query: { search: 'rye' } }, as)),
  ).toEqual(['Rye Painter']);
  // A cursor from the list of one kind is not valid for another kind.
  await expect(
    server.request(imageCalls['flux-kontext'].list, { params, query: { cursor: first } }, as),
  ).rejects.toThrow(/cursor must be the next_cursor/);
  expect(titles(await list({ status: 'sleeping' }))).toEqual([]);

  open();
  await untilRunning(second);
  expect(titles(await list({ only_running: 'true' }))).toEqual(['Rye Editor', 'Rye Painter']);
  for (const podId of [first, second])
    await server.request(
      imageCalls.flux.terminate,
      { params: { podId }, query: { user_id: ada.userId } },
      as,
    );
  expect(titles(await list())).toEqual([]);
  expect(titles(await work())).toEqual(['Rye Editor', 'Rye Painter']);
  clock.advance({ minutes: 61 });
  expect(titles(await work())).toEqual([]);
  expect(titles(await list({ status: 'terminated' }))).toEqual(['Rye Editor', 'Rye Painter']);
});
