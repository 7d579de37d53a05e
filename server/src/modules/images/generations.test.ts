import { listTransactions } from '@bakehouse/contract/credits';
import { describe, expect, test } from 'vitest';
import { testDrawing } from './testing/test-drawing.ts';

const drawing = await testDrawing();
const { server, stub } = drawing;

describe('a picture', () => {
  test('is held for, drawn, stored, charged once, and told in the statement', async () => {
    const ada = await server.signUp('Ada');
    const before = await drawing.balance(ada);
    const started = await drawing.draw(ada);
    expect(started).toMatchObject({ state: 'queued', cost: '0.125', steps: 10, outputs: [] });
    expect((await drawing.balance(ada)).held).toBe(125_000n);

    const done = await drawing.until(ada, started.id, 'completed');
    expect(done).toMatchObject({
      ...{ generator: 'paris', provider: 'own', model: 'paris-ddm-v1.0', prompt: 'A loaf of bread' },
      ...{ step: 10, expert_used: 3, routing_confidence: 0.5, cost: '0.125', preview: null, position: null },
    });
    expect(done.parameters.seed).toBe(done.seed);
    expect(await drawing.balance(ada)).toEqual({ balance: before.balance - 125_000n, held: 0n });
    const [output] = done.outputs;
    const picture = await fetch(new URL(output?.url ?? '', server.url));
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await picture.arrayBuffer()).byteLength).toBe(output?.size_bytes);

    const { transactions, summary } = await server.request(
      listTransactions,
      { params: { userId: ada.userId }, query: {} },
      { as: ada },
    );
    expect(transactions[0]).toMatchObject({ description: 'Picture by Paris', amount: '0.125' });
    expect(summary?.total_cost_image_generations).toBe('0.125');
    expect(stub.requests.at(-1)).toMatchObject({ prompt: 'A loaf of bread', steps: 10, k: 2, format: 'png' });
  });
});
