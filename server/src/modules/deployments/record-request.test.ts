import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { Context } from '../../platform/context.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { testServer } from '../../testing/test-server.ts';
import { holdNow } from '../credits/hold-now.ts';
import { getUserTotals } from '../credits/queries.ts';
import type { Way } from './queries.ts';
import { recordRequest } from './record-request.ts';

// What is announced inside a transaction makes the transactions commit one after the other.
vi.mock('../../platform/events/publish-change.ts', { spy: true });

test('the charge of an answer is announced once, and after the commit', async () => {
  const server = await testServer();
  const { userId } = await server.signUp('Ada');
  const announce = vi.fn();
  const services = { ...server.services, events: { ...server.services.events, announce } };
  const { holdId } = await holdNow(services, {
    userId,
    amountMicro: 1000n,
    kind: 'llm_inference',
    description: 'Chat',
    expiresAt: new Date('2100-01-01'),
    idempotencyKey: randomUUID(),
  });
  announce.mockClear();
  vi.mocked(publishChange).mockClear();
  const caller = { kind: 'user', userId, isOperator: false } as const;
  const ctx: Context = { ...services, caller, requestId: 'r', idempotencyKey: null };
  const way = { pod_id: null, model_name: 'crumb', accelerator: null } as Way;

  await recordRequest(ctx, way, holdId, {
    id: randomUUID(),
    at: new Date(),
    ok: true,
    usage: { promptTokens: 10, completionTokens: 10 },
    firstTokenMs: 1,
    totalMs: 2,
  });
  expect((await getUserTotals(server.services.db, userId)).held).toBe(0n);
  expect(announce.mock.calls).toEqual([[userId, { topic: 'balance', id: userId }]]);
  expect(vi.mocked(publishChange)).not.toHaveBeenCalled();
});
