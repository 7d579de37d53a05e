import { expect, test, vi } from 'vitest';
import type { Context } from '../../../platform/context.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { recordRequest } from './requests.ts';

const prices = {
  prompt: defaultPrice('prompt_tokens:CPU'),
  completion: defaultPrice('completion_tokens:CPU'),
};
const ctx = { clock: fakeClock(), caller: { userId: 'ada' } } as unknown as Context;
const upstream = { model_name: 'rye', pod_id: null } as Upstream;

test.each([
  ['more than was reserved', 1_000, 5n],
  ['nothing', 0, 0n],
])('charges an answer that used %s at most that', async (_case, tokens, amountMicro) => {
  const reservation = { windowId: 'w', priceMicro: 5n, extend: async () => {}, settle: vi.fn<() => void>() };
  const insertRequest = vi.fn(async () => undefined);
  const usage = { promptTokens: tokens, completionTokens: tokens };
  await recordRequest(
    ctx,
    { insertRequest },
    { upstream, reservation, prices },
    { id: 'r', at: new Date(0), ok: true, usage, firstTokenMs: 1, totalMs: 2 },
  );
  const settled = amountMicro > 0n ? expect.objectContaining({ id: 'r', amountMicro }) : null;
  expect(reservation.settle.mock.calls).toEqual([[settled]]);
  expect(insertRequest).toHaveBeenCalledWith(expect.objectContaining({ costMicro: amountMicro }));
});
