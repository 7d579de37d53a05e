import { expect, test } from 'vitest';
import { changeApiKey, createApiKey, rotateApiKeyById } from '../api-keys.ts';
import { assetCreatePayload } from '../assets.ts';
import { saveConfiguration } from '../configurations.ts';
import { transferTokens } from '../credits.ts';
import { deployVllm } from '../deployments/text.ts';
import { fineTunePayload, validateFineTune } from '../fine-tuning.ts';
import { resumeRun } from '../runs.ts';

test.each([
  ['a new API key', createApiKey.body],
  ['a changed API key', changeApiKey.body],
  ['a rotated API key', rotateApiKeyById.body],
  ['a transfer', transferTokens.body],
  ['a deployment', deployVllm.body],
  ['a saved configuration', saveConfiguration.body],
  ['a new dataset or model', assetCreatePayload],
  ['a fine-tune', fineTunePayload],
  ['a validated fine-tune', validateFineTune.body],
  ['a resumed run', resumeRun.body],
])('%s reports an unknown field by name', (_what, body) => {
  const messages = body?.safeParse({ budgett: 1 }).error?.issues.map(({ message }) => message);
  expect(messages).toContain('Unknown field: budgett');
});

test('names all unknown fields, including nested ones', () => {
  const said = (body: object) => createApiKey.body?.safeParse(body).error?.issues[0]?.message;
  expect(said({ name: 'x', scope: [], budgett: 1 })).toBe('Unknown fields: scope, budgett');
  expect(said({ name: 'x', budget: { amount: '1', period: 'day', perod: 'day' } })).toBe(
    'Unknown field: perod',
  );
});

test('an API key with every scope accepts no other scope', () => {
  const said = (scopes: string[]) =>
    createApiKey.body?.safeParse({ name: 'x', scopes }).error?.issues[0]?.message;
  expect(said(['read', 'everything'])).toMatch(/^scopes: everything has the others in it/);
  expect(said(['everything'])).toBeUndefined();
  expect(said(['read', 'inference'])).toBeUndefined();
});
