import { getWork } from '@bakehouse/contract/work';
import { expect, test } from 'vitest';
import { starterServing } from '../deployments/testing/starter-serving.ts';
import { draftCalls } from '../drafts/testing/draft-calls.ts';

const { server, clock, nextUser } = await starterServing();
const drafts = draftCalls(server);

test('drafts are listed once they have started and until an hour after their end, only for their owner', async () => {
  const [ada, bob] = [await nextUser(), await nextUser()];
  const titles = async (as = ada) =>
    (await server.request(getWork, {}, { as })).drafts.flatMap(({ documents }) =>
      documents.map(({ name }) => name),
    );
  const id = await drafts.create(ada, { 'notes.md': '# Spelt\nSpelt is baked in the Spelt oven.' });
  expect(await titles()).toEqual([]);
  await drafts.start(ada, id, { model: 'starter-model' }, 'once');
  expect(await titles()).toEqual(['notes.md']);
  await drafts.until(ada, id, 'completed');
  expect(await titles()).toEqual(['notes.md']);
  expect(await titles(bob)).toEqual([]);
  clock.advance({ minutes: 61 });
  expect(await titles()).toEqual([]);
});
