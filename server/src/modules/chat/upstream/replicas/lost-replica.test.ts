import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deployVllm } from '@bakehouse/contract/deployments/text';
import { beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { onFileEnd } from '../../../../testing/on-file-end.ts';
import type { TestUser } from '../../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../../testing/test-serving.ts';
import { insertModel } from '../../../deployments/testing/test-models.ts';

/* What a request does whose first replica has gone before the engine knows, or the router in front of all. */

const patiently = { interval: 50 };

const routers = new Map<string, string>();
let serving: TestServing;
let user: TestUser;
beforeAll(async () => {
  serving = await testServing({ config: { routers } });
});

beforeEach(async () => {
  user = await serving.server.signUp();
});

/** A deployment of two replicas that answer; `first`: what runs the first. */
async function deployTwo(title: string): Promise<{ podId: string; first: string }> {
  const { db } = serving.server.services;
  const { assetId } = await insertModel(serving.server.services, user, title, { 'model.gguf': 'weights' });
  const body = {
    model_id: assetId,
    user_id: user.userId,
    auto_scale: true,
    min_replicas: 2,
    max_replicas: 2,
  };
  const { pod_id: podId } = await serving.server.request(deployVllm, { body }, { as: user });
  // The CPU has room for two.
  onTestFinished(async () => void (await serving.terminate(user, podId)));
  return vi.waitFor(async () => {
    const replicas = await db
      .selectFrom('model_servers')
      .innerJoin('workloads', 'workloads.id', 'model_servers.workload_id')
      .select(['workloads.id', 'workloads.state'])
      .where('deployment_id', '=', podId)
      .orderBy('replica')
      .execute();
    expect(replicas.map(({ state }) => state)).toEqual(['ready', 'ready']);
    return { podId, first: replicas[0]?.id ?? '' };
  }, patiently);
}

/** An address at which nobody listens until somebody does. */
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

it('is answered by the other one, and those after it do not ask the one that is gone', async () => {
  const { first } = await deployTwo('Rye');
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

it('is answered by a replica where the router in front of them is gone, which those after it do not ask', async () => {
  const { podId } = await deployTwo('Wheat');
  const gone = await freeAddress();
  routers.set(podId, gone.url);
  serving.stub.requests.length = 0;
  expect((await serving.ask(user, 'wheat')).status).toBe(200);

  const back = await gone.listen();
  expect((await serving.ask(user, 'wheat')).status).toBe(200);
  expect(serving.stub.requests).toHaveLength(2);
  expect(back.asked()).toBe(0);
});
