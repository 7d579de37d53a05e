import { listWork } from '@bakehouse/contract/machines';
import { expect, test } from 'vitest';
import { requestWorkload } from '../../engine/request-workload.ts';
import { testSpec } from '../../engine/testing/test-spec.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { testServing } from '../../testing/test-serving.ts';
import { insertFineTune, insertStarter } from '../deployments/testing/test-models.ts';

const serving = await testServing();
const { server } = serving;
const { db, clock } = server.services;

test('operators see running and queued work with its owner, but no private data', async () => {
  const operator = await signUpOperator(server, 'Olga');
  const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
  const starter = await insertStarter(server.services, 'starter-model');
  const secret = await insertFineTune(server.services, starter, ada, 'A Secret Recipe');
  const podId = await serving.deploy(ada, secret);
  await serving.untilRunning(ada, podId);
  const runId = await inTransaction(db, (tx) =>
    requestWorkload(tx, {
      ...{ userId: bob.userId, behaviour: 'run', kind: 'fine-tune', title: 'Another Secret' },
      ...{ spec: testSpec('Another Secret'), placement: { accelerator: 'NVIDIA_H100_80GB', count: 2 } },
      now: clock.now(),
    }),
  );

  const list = (query: { limit?: number; cursor?: string } = {}) =>
    server.request(listWork, { query }, { as: operator });
  const all = await list();
  expect(all).toMatchObject({ on_machines: 1, waiting: 1, next_cursor: null });
  expect(all.work).toMatchObject([
    {
      ...{ kind: 'text_deployment', deployments: 1, pod_id: podId, model_name: null },
      owner: { user_id: ada.userId },
      ...{ machine: expect.any(String), state: 'running', reason: '', position: null, gpus: null },
    },
    {
      ...{ work_id: runId, kind: 'run', deployments: 0, pod_id: null, model_name: null },
      owner: { user_id: bob.userId },
      ...{ machine: null, state: 'queued', position: 1 },
      reason: 'Waiting for 2 x NVIDIA H100 (80GB): this server has none.',
      gpus: { gpu_type: 'NVIDIA_H100_80GB', count: 2 },
    },
  ]);
  expect(JSON.stringify(all)).not.toContain('Secret');

  const first = await list({ limit: 1 });
  expect(first.work).toEqual(all.work.slice(0, 1));
  const second = await list({ limit: 1, cursor: first.next_cursor ?? '' });
  expect(second.work).toEqual(all.work.slice(1));
  expect(second.next_cursor).toBeNull();
  await expect(server.request(listWork, { query: {} }, { as: ada })).rejects.toMatchObject({ status: 403 });

  // A model server shared by deployments of two users has no single owner.
  const other = await serving.deploy(bob, await insertFineTune(server.services, starter, bob, 'B Secret'));
  await serving.untilRunning(bob, other);
  await expect
    .poll(async () => (await list()).work.filter(({ kind }) => kind === 'text_deployment'))
    .toMatchObject([{ deployments: 2, pod_id: null, owner: null }]);
});
