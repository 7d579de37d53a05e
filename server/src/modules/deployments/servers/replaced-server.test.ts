import { expect, it } from 'vitest';
import { testServing } from '../../../testing/test-serving.ts';
import { insertFineTune, insertStarter } from '../testing/test-models.ts';

const STARTER = 'starter-model';

it("finishes an answer although another user's fine-tune has replaced its model server meanwhile", async () => {
  const serving = await testServing();
  const { stub, server, driver } = serving;
  const starter = await insertStarter(server.services, STARTER);
  const [ada, bob] = [await server.signUp(), await server.signUp()];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held });
  const answer = await serving.ask(ada, STARTER, { stream: true });
  // Its headers may have come while it waits.
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
