import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { starterServing } from '../../deployments/testing/starter-serving.ts';
import { chatRequestsPerMinute } from '../gateway-queries.ts';
import { batchRequestInserts } from './batch-request-inserts.ts';

const { server, nextUser, makeFineTune, deploy, terminate } = await starterServing();
const { db } = server.services;
const at = new Date('2030-01-01T10:00:00.123Z');

test('records concurrent requests of many deployments and adds them to the totals', async () => {
  const user = await nextUser();
  const one = (await deploy(await makeFineTune(user, 'One'))).pod_id;
  const other = (await deploy(await makeFineTune(user, 'Other'))).pod_id;
  const request = (podId: string | null) => ({
    ...{ id: randomUUID(), userId: user.userId, podId, modelName: 'bread "and" butter', at, ok: true },
    endedAt: new Date(at.getTime() + 500),
    ...{ promptTokens: 11, completionTokens: 4, firstTokenMs: null, totalMs: 500, costMicro: 7n },
  });
  // The two processes update the deployments in different orders, which could deadlock.
  const [first, second] = [batchRequestInserts(server.services), batchRequestInserts(server.services)];
  const rounds = Array.from({ length: 20 }, () => [
    ...[one, other, null].map((podId) => first(request(podId))),
    ...[other, null, one].map((podId) => second(request(podId))),
  ]);
  await Promise.all(rounds.flat());

  const kept = await db.selectFrom('chat_requests').selectAll().where('user_id', '=', user.userId).execute();
  expect(kept).toHaveLength(120);
  expect(kept[0]).toMatchObject({
    ...{ model_name: 'bread "and" butter', at, ok: true, prompt_tokens: 11, completion_tokens: 4 },
    ...{ first_token_ms: null, total_ms: 500, cost_micro: 7n },
  });
  const sums = await db
    .selectFrom('deployments')
    .select(['last_request_at', 'requests', 'prompt_tokens', 'completion_tokens', 'tokens_micro'])
    .where('id', 'in', [one, other])
    .execute();
  const sum = {
    last_request_at: new Date(at.getTime() + 500),
    ...{ requests: 40n, prompt_tokens: 440n, completion_tokens: 160n, tokens_micro: 280n },
  };
  expect(sums).toEqual([sum, sum]);
  await terminate(one);
  await terminate(other);
});

test("measures the speed of a minute from all tokens except each answer's first", async () => {
  const user = await nextUser();
  const podId = (await deploy(await makeFineTune(user, 'Fast'))).pod_id;
  const keep = batchRequestInserts(server.services);
  const request = (more: { completionTokens: number; firstTokenMs: number | null; totalMs: number }) =>
    keep({
      ...{ id: randomUUID(), userId: user.userId, podId, modelName: 'fast', at, endedAt: at, ok: true },
      ...{ promptTokens: 11, costMicro: 7n, ...more },
    });
  await request({ completionTokens: 11, firstTokenMs: 100, totalMs: 600 });
  await request({ completionTokens: 2, firstTokenMs: 100, totalMs: 600 });
  // The speed of these cannot be measured: a non-streamed answer, and an answer without tokens.
  await request({ completionTokens: 1, firstTokenMs: 600, totalMs: 600 });
  await request({ completionTokens: 0, firstTokenMs: null, totalMs: 600 });
  const minutes = await chatRequestsPerMinute(db, { podId, since: at });
  expect(minutes.map((minute) => minute.tokens_per_second)).toEqual([11]);
  await terminate(podId);
});
