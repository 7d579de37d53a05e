import { expect, test } from 'vitest';
import { agentExamples } from './agent-examples.ts';

const origin = 'https://bake.example';
const examples = agentExamples(origin, 'my-model');

test.each(examples)('$label is told where, with whose key and which model', ({ label, code }) => {
  // Open WebUI lists the models by itself.
  if (label !== 'Open WebUI') expect(code).toContain('my-model');
  // Claude Code adds /v1/messages by itself.
  expect(code.includes(`${origin}/v1`)).toBe(label !== 'Claude Code');
  expect(code).toContain(origin);
  expect(code).toContain('BAKEHOUSE_API_KEY');
  expect(code).not.toContain('bk_');
});

test('the settings of OpenCode are JSON under their comment', () => {
  const { code = '' } = examples.find(({ label }) => label === 'OpenCode') ?? {};
  expect(JSON.parse(code.replace(/^\/\/.*\n/, ''))).toMatchObject({
    model: 'bakehouse/my-model',
    provider: { bakehouse: { models: { 'my-model': {} } } },
  });
});
