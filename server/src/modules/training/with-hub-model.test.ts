import { expect, test } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { recordSource } from '../assets/sources/sources.ts';
import { trainingServer } from './testing/training-server.ts';

const { server, baseId, start, runOf } = await trainingServer();

const REPO = 'bakery/rye-7b';
const chosen = { base_model: 'bakery-rye-7b', hf_model_id: REPO };

test('a model of the hub is fine-tuned from the clone of it', async () => {
  await expect(start({ payload: chosen })).rejects.toMatchObject({
    status: 400,
    body: {
      error: {
        param: 'fine_tune_payload.hf_model_id',
        message: `You have no clone of ${REPO}: clone it from the public hub first`,
      },
    },
  });
  await expect(start({ payload: { base_model: 'bakery-rye-7b' } })).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'fine_tune_payload.base_model', message: 'No model has this id' } },
  });
  const source = {
    hubUrl: 'https://hub.example',
    repoId: REPO,
    commitId: 'a'.repeat(40),
    withoutToken: true,
  };
  await inTransaction(server.services.db, (tx) => recordSource(tx, baseId, source));
  const run = await runOf(await start({ payload: chosen }));
  expect(run.base_model.dataset_id).toBe(baseId);
});
