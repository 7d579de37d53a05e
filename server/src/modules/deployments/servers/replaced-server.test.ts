import { expect, it } from 'vitest';
import { testServing } from '../../../testing/test-serving.ts';
import { insertFineTune, insertStarter } from '../testing/test-models.ts';

const STARTER = 'starter-model';

it("finishes a response after another user's fine-tune has replaced its model server", async () => {
  const serving = await testServing();
  const { stub, server, driver } = serving;
  const starter = await insertStarter(server.services, STARTER);
  const [ada, bob] = [await server.signUp(), await server.signUp()];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held });
  const answer = await serving.ask(ada, STARTER, { stream: true });
  // Its headers may have arrived while it waits.
  await expect.poll(() => stub.open).toBe(1);
  stub.answer = 'ok';
  const podId = await serving.deploy(bob, await insertFineTune(server.services, starter, bob, 'A Tune'));
  await serving.untilRunning(bob, podId);
  expect(driver.running()).toHaveLength(2);
  expect((await serving.ask(ada, STARTER)).status).toBe(200);

  release();
  const text = await answer.text();
  expect(text).toContain('[DONE]');
  expect(text).not.toContain('error');
  await expect.poll(() => driver.running()).toHaveLength(1);
});

it('finishes a response after its place was withdrawn, while another server takes new requests', async () => {
  const serving = await testServing();
  const { stub, server, driver } = serving;
  await insertStarter(server.services, STARTER);
  const ada = await server.signUp();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held });
  const answer = await serving.ask(ada, STARTER, { stream: true });
  await expect.poll(() => stub.open).toBe(1);
  stub.answer = 'ok';
  const [first] = driver.running();
  await stub.leave[0]?.();
  const wanted = await server.services.db
    .selectFrom('workloads')
    .select(['wanted', 'drain_seconds'])
    .execute();
  expect(wanted).toEqual([{ wanted: 'stopped', drain_seconds: 1770 }]);

  await expect.poll(() => driver.running()).toHaveLength(2);
  expect((await serving.ask(ada, STARTER)).status).toBe(200);
  // The other server received the request.
  expect(stub.open).toBe(1);
  release();
  expect(await answer.text()).toContain('[DONE]');
  await expect.poll(() => driver.running()).toHaveLength(1);
  expect(driver.running()).not.toEqual([first]);
});
