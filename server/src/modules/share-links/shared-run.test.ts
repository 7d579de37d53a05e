import { deleteAsset, updateAsset } from '@bakehouse/contract/assets';
import { startExport } from '@bakehouse/contract/exports';
import { deleteAccount, exportData } from '@bakehouse/contract/privacy';
import type { HeldOutAnswers } from '@bakehouse/contract/runtime/report';
import { getRunShare, getShared, shareModel, shareRun, unshareRun } from '@bakehouse/contract/share-links';
import { expect, test } from 'vitest';
import type { Script } from '../../engine/drivers/fake/fake-driver.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { recordSource } from '../assets/sources/sources.ts';
import { emptyGguf, emptySafetensors } from '../training/testing/test-run.ts';
import { trainingServer } from '../training/testing/training-server.ts';
import { step } from '../training/testing/workload-calls.ts';
import { linkPages } from './testing/link-pages.ts';

/* The links of fine-tunes. */

const place = await trainingServer();
const { server, request, user: ada, machine, workload, create, start, ended, runOf, begin } = place;
const { db } = server.services;
const { page, tokenOf, statusesOf, shown } = await linkPages(server);

const answers: HeldOutAnswers = {
  task: 'answer',
  rows: [{ question: 'The safe?', earlier_turns: 0, expected: '4711.', base: 'None.', tuned: '4711.' }],
  skipped: null,
};

/** Three steps, measured once. */
const trains: Script = async (launch) => {
  const { report, put } = workload(launch);
  await report({ type: 'phase', phase: 'training' }, step(0));
  for (const at of [1, 2, 3])
    await report({
      ...{ type: 'metrics', step: at },
      values: { loss: 4 - at, learning_rate: 0.1, ...(at === 2 && { eval_loss: 2.5 }) },
    });
  const files = [];
  for (const name of ['adapter_config.json', 'adapter_model.safetensors', 'tokenizer.json'])
    files.push(await put(name, `{"of":"${name}"}`));
  await report({ type: 'log', line: 'a line of the log' }, { type: 'held_out_answers', ...answers });
  const summary = { eval_loss: 0.5, eval_loss_base: 3.25, target_modules: 'q_proj', best_step: null };
  await report(step(2), { type: 'result', files, summary });
  return 0;
};

/** A fine-tune on a dataset of Ada's that is called `title`, done. */
async function trained(title = 'Secret recipes', as = ada) {
  const asset_id = await create(as, 'RAW', title, { 'rows.csv': 'question,answer\na,b\n' });
  const base_model = await create(as, 'MODEL', 'Own base', {
    'config.json': '{"model_type":"llama"}',
    'tokenizer.json': '{}',
    'generation_config.json': '{}',
    'model.safetensors': emptySafetensors(),
    'base-F16.gguf': emptyGguf(),
  });
  machine.script = trains;
  const modelId = await start({ as, payload: { asset_id, base_model }, title: 'Bread facts' });
  await ended(modelId, as);
  return { datasetId: asset_id, baseId: base_model, modelId, runId: (await runOf(modelId, as)).run_id };
}

const share = async (runId: string, as = ada) =>
  (await request(shareRun, { params: { runId } }, { as })).share;
const publish = (id: string, is_published = true, as = ada) =>
  request(updateAsset, { params: { id }, body: { is_published } }, { as });
/** All that a stranger is sent. */
const textOf = async (token: string) =>
  (await (await server.send(getShared, { params: { token } })).text()) + (await page(token)).payload;

test('a link shows how a run has learned; of a private dataset neither its name nor its rows', async () => {
  const { datasetId, runId } = await trained();
  expect(await request(getRunShare, { params: { runId } }, { as: ada })).toEqual({ share: null });
  const made = await share(runId);
  expect(await share(runId)).toEqual(made);
  expect(await request(getRunShare, { params: { runId } }, { as: ada })).toEqual({ share: made });
  const token = tokenOf(made);
  expect(await shown('run', token)).toEqual({
    ...{ kind: 'run', trains: 'text', title: 'Bread facts', maker: 'Ada', state: 'completed' },
    made_from: { base_model: null, dataset: null },
    ...{ step: 2, steps_total: 2, elapsed_seconds: expect.any(Number), created_at: expect.any(String) },
    summary: { eval_loss: 0.5, eval_loss_base: 3.25 },
    points: [
      { step: 1, values: { loss: 3 } },
      { step: 2, values: { loss: 2, eval_loss: 2.5 } },
      { step: 3, values: { loss: 1 } },
    ],
    ...{ held_out_answers: null, samples: null },
  });
  const text = await textOf(token);
  const secrets = [
    ...[
      'Secret recipes',
      'Own base',
      '4711',
      'The safe?',
      'rows.csv',
      'a line of the log',
      'q_proj',
      'charged',
      'BGL',
    ],
    ...[datasetId, runId, ada.userId],
  ];
  for (const secret of secrets) expect(text).not.toContain(secret);
});

test('what its owner has published of the dataset is shown, while it is', async () => {
  const { datasetId, baseId, runId } = await trained('Open recipes');
  const token = tokenOf(await share(runId));
  await publish(datasetId);
  await publish(baseId);
  const seen = await shown('run', token);
  expect(seen.made_from).toEqual({ base_model: 'Own base', dataset: 'Open recipes' });
  expect(seen.held_out_answers).toEqual(answers);
  await publish(datasetId, false);
  expect(await textOf(token)).not.toMatch(/Open recipes|4711/);
  await publish(datasetId);
  await request(deleteAsset, { params: { id: datasetId } }, { as: ada });
  expect(await textOf(token)).not.toMatch(/Open recipes|4711/);
});

test('of what others have published the name is shown and no row', async () => {
  const bob = await server.signUp('Bob');
  const { datasetId, runId } = await trained('Recipes of others');
  await publish(datasetId);
  await db.updateTable('assets').set({ owner_user_id: bob.userId }).where('id', '=', datasetId).execute();
  const seen = await shown('run', tokenOf(await share(runId)));
  expect(seen.made_from).toEqual({ base_model: null, dataset: 'Recipes of others' });
  expect(seen.held_out_answers).toBeNull();
});

test('the link of its model names of the two what is published, and a base that is a copy from the public hub', async () => {
  const { datasetId, baseId, modelId } = await trained('Recipes of a model');
  const { url } = (await request(shareModel, { params: { id: modelId } }, { as: ada })).share;
  const token = tokenOf({ url });
  const seen = async () => (await shown('model', token)).made_from;
  expect(await seen()).toEqual({ base_model: null, dataset: null });
  expect((await page(token)).payload).toContain('content="Trained from a private model. ');
  await publish(datasetId);
  expect(await seen()).toEqual({ base_model: null, dataset: 'Recipes of a model' });
  const source = { hubUrl: 'https://hub.example', repoId: 'bakery/own', commitId: 'a', withoutToken: false };
  await inTransaction(db, (tx) => recordSource(tx, baseId, source));
  expect(await seen(), 'a copy that took a token').toMatchObject({ base_model: null });
  await db.updateTable('asset_sources').set({ without_token: true }).where('asset_id', '=', baseId).execute();
  expect(await seen()).toMatchObject({ base_model: 'Own base' });
  expect((await page(token)).payload).toContain('content="Trained from Own base. ');
});

test('rows of a validation file that is private are not shown', async () => {
  const { datasetId, runId } = await trained('Rows for all');
  await publish(datasetId);
  const closed = await create(ada, 'RAW', 'Closed measure', { 'more.csv': 'question,answer\na,b\n' });
  const file = {
    validation_asset_id: closed,
    validation_revision_id: closed,
    validation_title: 'Closed measure',
  };
  await db
    .updateTable('runs')
    .set({ ...file, validation_file_name: 'more.csv' })
    .where('id', '=', runId)
    .execute();
  const token = tokenOf(await share(runId));
  expect((await shown('run', token)).held_out_answers).toBeNull();
  expect(await textOf(token)).not.toMatch(/Closed measure|more\.csv/);
  await publish(closed);
  expect((await shown('run', token)).held_out_answers).toEqual(answers);
});

test('the page has a card, says how far a run is that trains, and not what stopped one', async () => {
  const { baseId, runId } = await trained();
  await publish(baseId);
  const { payload } = await page(tokenOf(await share(runId)));
  for (const line of [
    '<title>Bread facts, a training run by Ada · Bakehouse</title>',
    '<meta property="og:title" content="Bread facts, a training run by Ada" />',
    '<meta property="og:description" content="Trained from Own base. Held-out loss 0.500, base model 3.250." />',
    '<meta name="twitter:card" content="summary" />',
    '<meta name="robots" content="noindex, nofollow" />',
  ])
    expect(payload).toContain(line);
  const going = Promise.withResolvers<number>();
  const { modelId } = await begin(() => going.promise);
  const { run_id } = await runOf(modelId);
  const token = tokenOf(await share(run_id));
  expect(await shown('run', token)).toMatchObject({ state: 'running', step: 1, summary: null });
  expect((await page(token)).payload).toContain('Trained from a private model. Step 1 of 2.');
  going.resolve(1);
  await ended(modelId);
  expect((await shown('run', token)).state).toBe('failed');
  expect(await textOf(token)).not.toContain('reason');
});

test('a link that is revoked ends at once, and the next one is another', async () => {
  const { runId } = await trained();
  const token = tokenOf(await share(runId));
  expect(await statusesOf(token)).toEqual([200, 200]);
  const revoke = async () => (await server.send(unshareRun, { params: { runId } }, { as: ada })).status;
  expect([await revoke(), await revoke()]).toEqual([204, 204]);
  expect(await statusesOf(token)).toEqual([404, 404]);
  const next = tokenOf(await share(runId));
  expect(next).not.toBe(token);
  expect([await statusesOf(token), await statusesOf(next)]).toEqual([
    [404, 404],
    [200, 200],
  ]);
  const entries = await db
    .selectFrom('audit_log')
    .select(['action', 'detail'])
    .where('action', 'in', ['run.shared', 'run.unshared'])
    .orderBy('id')
    .execute();
  const ofRun = entries.filter(({ detail }) => JSON.stringify(detail).includes(runId));
  expect(ofRun.map(({ action }) => action)).toEqual(['run.shared', 'run.unshared', 'run.shared']);
});

test('nobody else makes, sees or revokes a link, and an export has none', async () => {
  const { modelId, runId } = await trained();
  const token = tokenOf(await share(runId));
  const bob = await server.signUp('Bob');
  for (const endpoint of [shareRun, getRunShare, unshareRun])
    expect((await server.send(endpoint, { params: { runId } }, { as: bob })).status).toBe(404);
  expect(await statusesOf(token)).toEqual([200, 200]);
  const exported = { params: { id: modelId }, body: { format: 'safetensors' } } as const;
  const { run_id } = await request(startExport, exported, { as: ada, idempotencyKey: 'export' });
  await expect(share(run_id)).rejects.toThrow('An export trains nothing. Share the model that it makes');
});

test('a link outlives the model of its run and ends with the account; the export of one’s data tells of it', async () => {
  const cy: TestUser = await server.signUp('Cy');
  const { modelId, runId } = await trained('Recipes of Cy', cy);
  const token = tokenOf(await share(runId, cy));
  const answer = await server.send(exportData, {}, { headers: { cookie: cy.cookie } });
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({
    share_links: [{ generation_id: null, run_id: runId, model_id: null }],
  });
  expect(text).not.toContain(token);
  await request(deleteAsset, { params: { id: modelId } }, { as: cy });
  expect(await statusesOf(token)).toEqual([200, 200]);
  const password = 'correct horse battery staple';
  await request(deleteAccount, { body: { password } }, { headers: { cookie: cy.cookie } });
  expect(await statusesOf(token)).toEqual([404, 404]);
});
