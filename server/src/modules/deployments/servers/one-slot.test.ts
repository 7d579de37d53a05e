import { chatCompletions } from '@bakehouse/contract/chat';
import { deployVllm, vllmStatus } from '@bakehouse/contract/deployments/text';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { createFakeDriver } from '../../../engine/drivers/fake/fake-driver.ts';
import { testServer } from '../../../testing/test-server.ts';
import { stubModelServer } from '../testing/stub-model-server.ts';
import { insertFineTune, insertStarter } from '../testing/test-models.ts';

it('serves a second fine-tune if there is room for only one model server', async () => {
  const stub = stubModelServer();
  const driver = createFakeDriver({ capacity: { 'cpu:deployment': 1 }, script: stub.script });
  const [looked, stopped, killed] = [
    vi.spyOn(driver, 'observe'),
    vi.spyOn(driver, 'stop'),
    vi.spyOn(driver, 'kill'),
  ];
  const server = await testServer({ driver, roles: ['web', 'worker', 'reconciler'] });
  const starter = await insertStarter(server.services, 'starter-model');
  const user = await server.signUp();
  const deploy = async (title: string) => {
    const modelId = await insertFineTune(server.services, starter, user, title);
    const body = { model_id: modelId, user_id: user.userId };
    return (await server.request(deployVllm, { body }, { as: user })).pod_id;
  };
  const untilRunning = (podId: string) =>
    vi.waitFor(
      async () => {
        const pod = await server.request(vllmStatus, { params: { podId } }, { as: user });
        expect(pod.status).toBe('running');
      },
      { interval: 50 },
    );

  const first = await deploy('First Tune');
  await untilRunning(first);
  // The first server releases its slot after the answer that it is writing.
  const modelServers = server.services.db
    .selectFrom('workloads')
    .select('state')
    .where('behaviour', '=', 'deployment')
    .orderBy('created_at');
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  Object.assign(stub, { answer: 'hold', held });
  const body = { model: 'starter-model', messages: [{ role: 'user' as const, content: 'Go' }], stream: true };
  const answer = await server.send(chatCompletions, { body }, { as: user });
  await expect.poll(() => stub.open).toBe(1);
  const second = await deploy('Second Tune');
  await expect.poll(() => modelServers.execute()).toMatchObject([{ state: 'stopping' }, { state: 'queued' }]);
  // Wait for two polls: then the engine has surely finished the work of the first.
  for (let look = 0; look < 2; look += 1) {
    const looks = looked.mock.calls.length;
    await sql`update workloads set check_at = now() where state = 'stopping'`.execute(server.services.db);
    await expect.poll(() => looked.mock.calls.length).toBeGreaterThan(looks);
  }
  expect([...stopped.mock.calls, ...killed.mock.calls]).toEqual([]);
  expect(stub.open).toBe(1);
  release();
  expect(await answer.text()).toContain('[DONE]');
  await untilRunning(second);
  await untilRunning(first);
  expect(driver.running()).toHaveLength(1);
  // Signals between processes must not appear as changes of any user.
  const { rows: strangers } = await sql`
    select user_id from recent_changes where user_id not in (${user.userId}, '')`.execute(server.services.db);
  expect(strangers).toEqual([]);
});
