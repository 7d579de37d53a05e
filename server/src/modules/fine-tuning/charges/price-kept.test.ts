import { createAsset } from '@bakehouse/contract/assets';
import { listTransactions } from '@bakehouse/contract/credits';
import { changePrice } from '@bakehouse/contract/prices';
import { listRuns } from '@bakehouse/contract/runs';
import { expect, test } from 'vitest';
import { lockWorkload } from '../../../engine/workloads.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import { testServer } from '../../../testing/test-server.ts';
import { findRun } from '../queries.ts';
import { emptySafetensors, goodData } from '../testing/test-run.ts';
import { settleRun } from './hold-run.ts';

const server = await testServer({ readData: async () => goodData });
const { request, services } = server;
const operator = await signUpOperator(server);
const ada = await server.signUp('Ada');

const setPrice = (unit_price: string) =>
  request(changePrice, { body: { price_id: 'training:CPU', unit_price } }, { as: operator });

async function create(
  dataset_type: 'RAW' | 'MODEL',
  files: Record<string, string | Buffer>,
): Promise<string> {
  const body = { dataset_type, title: 'thing', user_id: ada.userId };
  const id = await request(createAsset, { body }, { as: ada });
  for (const [name, bytes] of Object.entries(files)) {
    const form = new FormData();
    form.set('data_file', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
    const init = { method: 'POST', headers: { 'x-api-key': ada.apiKey }, body: form };
    expect((await fetch(`${server.url}/api/v1/asset/${id}/upload`, init)).status).toBe(200);
  }
  return id;
}

test('a run is charged at its quoted price, even if the price changes before its end', async () => {
  const fine_tune_payload = {
    asset_id: await create('RAW', { 'rows.csv': 'question,answer\na,b\n' }),
    base_model: await create('MODEL', { 'config.json': '{}', 'model.safetensors': emptySafetensors() }),
    ...{ model_name: 'tuned', file_name: 'rows.csv', user_id: ada.userId },
    ...{ input_column: 'question', output_column: 'answer' },
  };
  const body = { dataset_type: 'MODEL', title: 'tuned', user_id: ada.userId, fine_tune_payload } as const;
  await setPrice('3.6');
  await request(createAsset, { body }, { as: ada });
  await setPrice('36');
  const { runs } = await request(listRuns, { query: {} }, { as: ada });
  const [run] = runs;
  expect(run?.quote.items).toMatchObject([{ unit_price: '3.6' }]);

  // 20 seconds at 3.6 BGL per hour.
  await inTransaction(services.db, async (tx) => {
    const row = await findRun(tx, run?.run_id ?? '');
    const workload = await lockWorkload(tx, run?.run_id ?? '');
    if (row && workload) await settleRun(tx, row, { ...workload, activeSeconds: 20 });
  });
  const call = { params: { userId: ada.userId }, query: {} };
  const { transactions } = await request(listTransactions, call, { as: ada });
  expect(transactions.find(({ run_id }) => run_id === run?.run_id)).toMatchObject({ amount: '0.02' });
});
