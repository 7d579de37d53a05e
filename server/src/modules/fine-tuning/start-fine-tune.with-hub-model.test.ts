import { validateFineTune } from '@bakehouse/contract/fine-tuning';
import { cancelClone, listClones } from '@bakehouse/contract/hub/clones';
import { cancelRun, resumeRun } from '@bakehouse/contract/runs';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { sha256 } from '../assets/testing/asset-calls.ts';
import { createCloneLoop } from '../hub/clone/run-clone.ts';
import { safetensors, testPace } from '../hub/testing/clones.ts';
import { type HubRepo, openPublicHub } from '../hub/testing/public-hub.ts';
import { createCloneWaitLoop } from './cloning/clone-wait-loop.ts';
import { trainingServer } from './testing/training-server.ts';

const model = (id: string): HubRepo => ({
  ...{ type: 'model', id },
  files: { 'config.json': '{}', 'tokenizer.json': '{}', 'model.safetensors': safetensors(2_000) },
});
const { server, user, datasetId, machine, clock, start, runOf, ended, balance } = await trainingServer();
const hub = await openPublicHub([
  ...[model('bakery/rye-7b'), model('bakery/oat-1b'), model('bakery/lost-1b'), model('bakery/big-1b')],
  { type: 'model', id: 'bakery/flat-1b', files: { 'config.json': '{}' } },
]);
server.services.config.hubUrl = hub.url;
// The loops have no state in memory, so they can be started and stopped like the server.
const loops = [createCloneLoop(server.services, testPace), createCloneWaitLoop(server.services)];
const [cloneLoop, waitLoop] = loops;
for (const loop of loops) onFileEnd(loop.stop);

const payloadOf = (repoId: string) => ({ base_model: repoId.replaceAll('/', '-'), hf_model_id: repoId });
const cloneOf = async (repoId: string) => {
  const { clones } = await server.request(
    listClones,
    { params: { userId: user.userId }, query: {} },
    { as: user },
  );
  return clones.find(({ repo_id }) => repo_id === repoId);
};
const validate = (repoId: string) =>
  server.request(
    validateFineTune,
    {
      body: {
        ...{ dataset_id: datasetId, file_name: 'rows.csv', model_id: repoId },
        ...{ input_column: 'question', output_column: 'answer' },
      },
    },
    { as: user },
  );

test('estimates a hub model by its small files, without reading its weights', async () => {
  const { critical_errors, cost_estimate, warnings } = await validate('bakery/rye-7b');
  expect(warnings[0]).toMatch(/^bakery\/rye-7b is cloned from the public hub first: /);
  expect(critical_errors).toEqual([]);
  expect(machine.read?.base.toSorted((one, other) => one.path.localeCompare(other.path))).toMatchObject([
    { path: 'config.json', sha256: sha256('{}') },
    { path: 'tokenizer.json', sha256: sha256('{}') },
  ]);
  expect(hub.requests.map(({ file }) => file)).not.toContain('model.safetensors');
  expect(await cloneOf('bakery/rye-7b')).toBeUndefined();
  expect(Number(cost_estimate.quote.total)).toBeGreaterThan(0);
});

test('refuses a hub model that cannot be trained, before cloning it', async () => {
  const { critical_errors } = await validate('bakery/flat-1b');
  expect(critical_errors).toEqual(['flat-1b has no safetensors weights to train on']);
  await expect(start({ payload: payloadOf('bakery/flat-1b') })).rejects.toMatchObject({ status: 400 });
  await expect(start({ payload: payloadOf('bakery/gone-1b') })).rejects.toMatchObject({ status: 404 });
  await expect(start({ payload: { base_model: 'bakery-rye-7b' } })).rejects.toMatchObject({
    body: { error: { param: 'fine_tune_payload.base_model', message: 'No model has this id' } },
  });
});

test('cancelling a run that waits for its clone also cancels the clone, and charges nothing', async () => {
  const before = await balance();
  const modelId = await start({ payload: payloadOf('bakery/oat-1b') });
  const run = await runOf(modelId);
  expect(run).toMatchObject({
    ...{ state: 'queued', phase: 'cloning', reason: 'Cloning bakery/oat-1b from the public hub first' },
  });
  expect(Number(run.held)).toBeGreaterThan(0);
  await server.app.engine.pass();
  expect(await runOf(modelId)).toMatchObject({ state: 'queued', phase: 'cloning' });
  await server.request(cancelRun, { params: { runId: run.run_id } }, { as: user });
  await ended(modelId);
  expect(await runOf(modelId)).toMatchObject({ state: 'cancelled', charged: '0', resume_hold: null });
  expect(await cloneOf('bakery/oat-1b')).toMatchObject({ status: 'CANCELLED' });
  expect(await balance()).toEqual(before);
  await expect(
    server.request(resumeRun, { params: { runId: run.run_id }, body: {} }, { as: user }),
  ).rejects.toMatchObject({ status: 409 });
});

test('a run fails at no cost if its clone is cancelled or fails', async () => {
  waitLoop?.start();
  const before = await balance();
  const cancelled = await start({ payload: payloadOf('bakery/big-1b') });
  const clone = await cloneOf('bakery/big-1b');
  await server.request(cancelClone, { params: { id: clone?.id ?? '' } }, { as: user });
  await ended(cancelled);
  expect(await runOf(cancelled)).toMatchObject({
    ...{
      state: 'failed',
      charged: '0',
      reason: 'bakery/big-1b was not cloned: Cancelled. You are not charged.',
    },
  });

  hub.instead = (_request, response, file) => {
    if (file !== 'model.safetensors') return undefined;
    response.writeHead(404).end();
    return true;
  };
  const failed = await start({ payload: payloadOf('bakery/lost-1b') });
  cloneLoop?.start();
  await ended(failed);
  hub.instead = null;
  expect(await runOf(failed)).toMatchObject({ state: 'failed', charged: '0' });
  expect(await balance()).toEqual(before);
});

test('one call clones a hub model and fine-tunes it; a second call uses the same clone', async () => {
  const key = 'one-piece-of-work';
  const modelId = await start({ payload: payloadOf('bakery/rye-7b'), key });
  const waiting = await runOf(modelId);
  await vi.waitFor(
    async () => {
      clock.advance({ seconds: 1 });
      expect((await runOf(modelId)).phase).not.toBe('cloning');
    },
    { timeout: 10_000, interval: 100 },
  );
  const clone = await cloneOf('bakery/rye-7b');
  const run = await runOf(modelId);
  expect([clone?.status, clone?.reason, run.state, run.reason]).toEqual(['COMPLETED', '', 'queued', '']);
  expect(run.base_model.dataset_id).toBe(clone?.asset_id);
  expect(run.base_model.dataset_id).toBe(waiting.base_model.dataset_id);
  expect(run.quote).toEqual(waiting.quote);
  const spec = await server.services.db
    .selectFrom('workloads')
    .select('spec')
    .where('id', '=', run.run_id)
    .executeTakeFirstOrThrow();
  expect(JSON.stringify(spec)).toContain('model.safetensors');
  const trained = await server.services.db
    .selectFrom('assets')
    .select('parent_asset_id')
    .where('id', '=', modelId)
    .executeTakeFirstOrThrow();
  expect(trained.parent_asset_id).toBe(clone?.asset_id);
  await vi.waitFor(async () => {
    await server.app.engine.pass();
    expect((await runOf(modelId)).state).not.toBe('queued');
  });
  expect(await start({ payload: payloadOf('bakery/rye-7b'), key })).toBe(modelId);
  const second = await runOf(await start({ payload: payloadOf('bakery/rye-7b'), title: 'second model' }));
  expect(second).toMatchObject({ base_model: { dataset_id: clone?.asset_id } });
  expect(second.phase).toBeNull();
});
