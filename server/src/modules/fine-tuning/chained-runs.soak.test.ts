import { createAsset, deleteAsset, getAsset, listAssets, updateAsset } from '@bakehouse/contract/assets';
import { validateFineTune } from '@bakehouse/contract/fine-tuning';
import { listRuns } from '@bakehouse/contract/runs';
import OpenAI from 'openai';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../config.ts';
import { hasLayer } from '../../engine/host/environment/environment.ts';
import type { TestUser } from '../../testing/test-client.ts';
import { LONG_WAIT, realServer, rows, tinyModel, upload } from './testing/real-server.ts';

// With the real runtime, trains and serves the result of a full fine-tune.
const isReady = await hasLayer(readConfig({}), 'training');

const CARD = '---\nlicense: other\nlicense_name: crumb\n---\n# Tiny\n';

describe.skipIf(!isReady)('a fully fine-tuned model', () => {
  test('can be fine-tuned and served without its own base', {
    timeout: 40 * 60_000,
  }, async () => {
    const server = await realServer();
    await server.start();
    const { request, send } = server.client;
    const user = await server.client.signUp('Ada');
    const datasetId = await upload(server, user, 'RAW', 'rows', { 'rows.csv': rows() });
    const model = { ...(await tinyModel({ gguf: true })), 'README.md': CARD };
    const baseId = await upload(server, user, 'MODEL', 'tiny', model);
    const fineTune = (body: { base: string; title: string; payload: object }) =>
      trained(server.client, user, { datasetId, ...body });

    const fullId = await fineTune({
      ...{ base: baseId, title: 'the whole' },
      payload: { adaptation: 'full', learning_rate: 1e-3 },
    });
    const whole = await request(getAsset, { params: { id: fullId } }, { as: user });
    expect(whole).toMatchObject({ is_whole: true, parent_dataset_id: baseId, lineage: { base_model: {} } });
    await request(updateAsset, { params: { id: fullId }, body: { is_published: true } }, { as: user });
    const validate = (id: string) =>
      request(
        validateFineTune,
        {
          body: {
            ...{ dataset_id: datasetId, file_name: 'rows.csv', model_id: id },
            ...{ input_column: 'question', output_column: 'answer' },
          },
        },
        { as: user },
      );
    const [onBase, onWhole] = [await validate(baseId), await validate(fullId)];
    expect(onWhole.critical_errors).toEqual([]);
    expect(onWhole.data?.memory_bytes).toBe(onBase.data?.memory_bytes);
    expect(onWhole.data).toMatchObject({
      ...{ base_parameters: onBase.data?.base_parameters, train_tokens: onBase.data?.train_tokens },
    });

    const adapterId = await fineTune({ base: fullId, title: 'the crumb', payload: { lora_r: 4 } });
    const adapter = await request(getAsset, { params: { id: adapterId } }, { as: user });
    expect(adapter).toMatchObject({ is_whole: false, lineage: { base_model: { dataset_id: fullId } } });
    expect(adapter.card).toContain(`base_model: "${whole.repo_id}"`);
    for (const { card } of [whole, adapter])
      expect(card).toContain('license: "other"\nlicense_name: "crumb"');
    const { datasets } = await request(
      listAssets,
      { query: { owner: user.userId, types: 'MODEL' } },
      { as: user },
    );
    expect(datasets.filter(({ is_whole }) => is_whole).map(({ title }) => title)).toEqual(
      expect.arrayContaining(['the whole', 'tiny']),
    );

    const gone = await send(deleteAsset, { params: { id: baseId } }, { as: user });
    expect(gone.status).toBe(204);
    await expect(request(deleteAsset, { params: { id: fullId } }, { as: user })).rejects.toThrow(
      "'the crumb' cannot work without it",
    );
    await expectAnswers(server.url, user);
    await server.stop();
  });
});

/** Calls both models by their fine-tune names, which deploys them. */
async function expectAnswers(url: string, user: TestUser): Promise<void> {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: user.apiKey, maxRetries: 0 });
  const names = (await openai.fineTuning.jobs.list()).data.map(({ fine_tuned_model: name }) => name);
  expect(names).toEqual([
    expect.stringMatching(/^ft:the-whole:[^:]+:the-crumb:/),
    expect.stringMatching(/^ft:tiny:[^:]+:the-whole:/),
  ]);
  for (const name of names) {
    const { choices } = await openai.chat.completions.create({
      ...{ model: name ?? '', max_tokens: 8 },
      messages: [{ role: 'user', content: 'What about 0 in way 0?' }],
    });
    expect(choices[0]?.finish_reason).toMatch(/^(stop|length)$/);
  }
}

type Client = Awaited<ReturnType<typeof realServer>>['client'];

/** Trains a model to completion. */
async function trained(
  client: Client,
  user: TestUser,
  { datasetId, base, title, payload }: { datasetId: string; base: string; title: string; payload: object },
): Promise<string> {
  const fine_tune_payload = {
    ...{ asset_id: datasetId, base_model: base, model_name: title, file_name: 'rows.csv' },
    ...{ user_id: user.userId, input_column: 'question', output_column: 'answer', batch_size: 2 },
    // Enough even on a slow machine.
    ...{ ceiling: '100', ...payload },
  };
  const body = { dataset_type: 'MODEL' as const, title, user_id: user.userId, fine_tune_payload };
  const modelId = await client.request(createAsset, { body }, { as: user, idempotencyKey: title });
  await vi.waitFor(async () => {
    const { runs } = await client.request(listRuns, { query: { model_id: modelId } }, { as: user });
    expect(runs[0]?.state, runs[0]?.reason).not.toBe('failed');
    expect(runs[0]?.state).toBe('completed');
  }, LONG_WAIT);
  return modelId;
}
