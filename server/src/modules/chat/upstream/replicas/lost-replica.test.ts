import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deployVllm } from '@bakehouse/contract/deployments/text';
import { beforeAll, expect, it, vi } from 'vitest';
import { onFileEnd } from '../../../../testing/on-file-end.ts';
import type { TestUser } from '../../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../../testing/test-serving.ts';
import { insertModel } from '../../../deployments/testing/test-models.ts';

/* Tests a request whose first replica has died before the engine notices it. */

const patiently = { interval: 50 };

let serving: TestServing;
let user: TestUser;
beforeAll(async () => {
  serving = await testServing();
  user = await serving.server.signUp();
});

/** Deploys two running replicas; returns the workload id of the first. */
async function deployTwo(): Promise<string> {
  const { db } = serving.server.services;
  const { assetId } = await insertModel(serving.server.services, user, 'Rye', { 'model.gguf': 'weights' });
  const body = {
    model_id: assetId,
    user_id: user.userId,
    auto_scale: true,
    min_replicas: 2,
    max_replicas: 2,
  };
  const { pod_id: podId } = await serving.server.request(deployVllm, { body }, { as: user });
  return vi.waitFor(async () => {
    const replicas = await db
      .selectFrom('model_servers')
      .innerJoin('workloads', 'workloads.id', 'model_servers.workload_id')
      .select(['workloads.id', 'workloads.state'])
      .where('model_servers.deployment_id', '=', podId)
      .orderBy('replica')
      .execute();
    expect(replicas.map(({ state }) => state)).toEqual(['ready', 'ready']);
    return replicas[0]?.id ?? '';
  }, patiently);
}

/** Returns an address without a listener, and a function that starts one. */
async function freeAddress(): Promise<{ url: string; listen: () => Promise<{ asked: () => number }> }> {
  const nobody = createServer();
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
  const { port } = nobody.address() as AddressInfo;
  await new Promise((resolve) => nobody.close(resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    listen: async () => {
      let asked = 0;
      const somebody = createServer((_request, response) => {
        asked += 1;
        response.destroy();
      });
      await new Promise<void>((resolve) => somebody.listen(port, '127.0.0.1', resolve));
      onFileEnd(async () => void somebody.close());
      return { asked: () => asked };
    },
  };
}

it('is answered by the other replica, and later requests skip the dead one', async () => {
  const first = await deployTwo();
  const gone = await freeAddress();
  await serving.server.services.db
    .updateTable('workloads')
    .set({ base_url: gone.url })
    .where('id', '=', first)
    .execute();

  expect((await serving.ask(user, 'rye')).status).toBe(200);
  expect(serving.stub.requests).toHaveLength(1);

  const back = await gone.listen();
  const answers = await Promise.all([1, 2, 3].map(() => serving.ask(user, 'rye')));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(back.asked()).toBe(0);
});
