import { cancelGeneration } from '@bakehouse/contract/generations';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { serviceGenerations } from '../testing/service-generations.ts';

const setting = await serviceGenerations();
const { server, start } = setting;

/** A query is sent as text, or as an object with a name. */
function toText(asked: string | { text?: string }): string {
  return typeof asked === 'string' ? asked : (asked.text ?? '');
}

test("a transaction of a picture reads the queue before it locks the user's account", async () => {
  const ada = await setting.begin();
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const { id } = await start('flux');
  await server.request(cancelGeneration, { params: { id } }, { as: ada });
  // Grouped by connection, because background loops run queries too.
  const asked = query.mock.calls.map(([text], at) => ({
    connection: query.mock.contexts[at],
    text: toText(text),
  }));
  query.mockRestore();
  for (const move of ['ledger_hold(', 'ledger_settle(']) {
    const moved = asked.findIndex(({ text }) => text.includes(move));
    expect(moved, move).toBeGreaterThan(-1);
    const after = asked
      .slice(moved + 1)
      .filter(({ connection }) => connection === asked[moved]?.connection)
      .map(({ text }) => text);
    const rest = after.slice(0, after.indexOf('commit'));
    expect(rest.filter((text) => text.includes('generation_queue'))).toEqual([]);
  }
  expect(asked.filter(({ text }) => text.includes('generation_queue'))).not.toEqual([]);
});
