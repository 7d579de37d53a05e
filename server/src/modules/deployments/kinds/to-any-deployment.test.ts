import { listDeployments } from '@bakehouse/contract/deployments/all';
import { imageCalls } from '@bakehouse/contract/deployments/images';
import { expect, test, vi } from 'vitest';
import { starterServing } from '../testing/starter-serving.ts';
import { insertFlux } from '../testing/test-models.ts';

const { server, clock, nextUser, makeFineTune, deploy, terminate, untilRunning } = await starterServing();

test('lists text and image deployments together by page, with the same state names', async () => {
  const user = await nextUser();
  const list = (query: object = {}) =>
    server.request(listDeployments, { params: { userId: user.userId }, query }, { as: user });
  const chat = await deploy(await makeFineTune(user, 'Rye Chat'));
  await untilRunning(chat.pod_id);
  clock.advance({ seconds: 1 });
  const { assetId } = await insertFlux(server.services, user, 'Rye Painter');
  const body = { user_id: user.userId, model_id: assetId };
  const painter = await server.request(imageCalls.flux.deploy, { body }, { as: user });

  const running = { status: 'running', reason: '', terminated_at: null };
  await vi.waitFor(
    async () =>
      expect((await list()).deployments).toMatchObject([
        { pod_id: painter.pod_id, kind: 'flux', title: 'Rye Painter', model_name: 'rye-painter', ...running },
        { pod_id: chat.pod_id, kind: 'text', title: 'Rye Chat', model_name: 'rye-chat', ...running },
      ]),
    { interval: 50 },
  );
  const first = await list({ limit: 1 });
  expect(first).toMatchObject({ deployments: [{ kind: 'flux' }], next_cursor: painter.pod_id });
  const second = await list({ limit: 1, cursor: painter.pod_id });
  expect(second).toMatchObject({ deployments: [{ kind: 'text' }], next_cursor: null });

  await terminate(chat.pod_id);
  expect((await list()).deployments.map(({ kind }) => kind)).toEqual(['flux']);
  expect((await list({ include_terminated: 'true', search: 'chat' })).deployments).toMatchObject([
    { kind: 'text', status: 'terminated', terminated_at: expect.any(String) },
  ]);
});
