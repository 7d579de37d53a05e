import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { meterDeployments } from '../metering/meter-deployments.ts';
import { insertStarter } from '../testing/test-models.ts';

let serving: TestServing;
let user: TestUser;

beforeAll(async () => {
  serving = await testServing();
});

beforeEach(async () => {
  user = await serving.server.signUp();
});

const answer = async (model: string) => expect((await serving.ask(user, model)).status).toBe(200);
/** Returns hashes of the files that running model servers have loaded. */
const loaded = () =>
  serving.driver.running().flatMap(({ spec }) => spec.inputs.flatMap(({ files }) => files[0]?.sha256 ?? []));

async function putToSleep(): Promise<void> {
  const { clock, server } = serving;
  clock.advance({ minutes: server.services.config.idleMinutes + 1 });
  await meterDeployments(server.services);
}

it('serves the newest revision of the starter model after it was woken again', async () => {
  const { services } = serving.server;
  await insertStarter(services, 'first-model', 'the first crumb');
  await answer('first-model');
  const first = loaded();
  expect(first).toHaveLength(1);

  await insertStarter(services, 'first-model', 'a better crumb');
  await answer('first-model');
  expect(loaded()).toEqual(first);

  await putToSleep();
  await vi.waitFor(() => expect(loaded()).toEqual([]));
  await answer('first-model');
  expect(loaded()).toHaveLength(1);
  expect(loaded()).not.toEqual(first);
});

it('serves the newest revision even if another deployment still uses a server with an earlier one', async () => {
  const { services } = serving.server;
  await putToSleep();
  await vi.waitFor(() => expect(loaded()).toEqual([]));
  const { assetId } = await insertStarter(services, 'second-model', 'the first loaf');
  await answer('second-model');
  await putToSleep();
  await vi.waitFor(() => expect(loaded()).toEqual([]));
  const podId = await serving.deploy(user, assetId);
  await serving.untilRunning(user, podId);
  const first = loaded();
  expect(first).toHaveLength(1);

  await insertStarter(services, 'second-model', 'a better loaf');
  await answer('second-model');
  expect(loaded()).toHaveLength(2);
  expect(loaded()).toContain(first[0]);
});
