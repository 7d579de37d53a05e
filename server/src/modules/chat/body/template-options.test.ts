import { beforeEach, expect, it } from 'vitest';
import { starterServing } from '../../deployments/testing/starter-serving.ts';
import { insertStarter } from '../../deployments/testing/test-models.ts';

/* What a model's chat template lets a request choose, read from its GGUF. */
const { stub, server, openai, nextUser } = await starterServing();

/** The beginning of a GGUF that has this template, of fewer than 128 characters. */
function gguf(template: string): string {
  const u32 = (value: number) => String.fromCharCode(value, 0, 0, 0);
  const u64 = (value: number) => u32(value) + u32(0);
  const text = (value: string) => u64(value.length) + value;
  return `GGUF${u32(3)}${u64(0)}${u64(1)}${text('tokenizer.chat_template')}${u32(8)}${text(template)}`;
}

await insertStarter(
  server.services,
  'thinker',
  gguf('{% if enable_thinking is false %}<think></think>{% endif %}'),
);
await insertStarter(server.services, 'leveller', gguf('Reasoning: {{ reasoning_effort }}, {{ verbosity }}'));

beforeEach(nextUser);

const ask = (model: string, more: object) =>
  openai().chat.completions.create({ model, messages: [{ role: 'user', content: 'Go' }], ...more });

it.each([
  ['thinker', { reasoning_effort: 'none' }, { enable_thinking: false }],
  ['thinker', { reasoning_effort: 'high' }, { enable_thinking: true }],
  ['thinker', { verbosity: 'medium' }, {}],
  [
    'leveller',
    { reasoning_effort: 'low', verbosity: 'high' },
    { reasoning_effort: 'low', verbosity: 'high' },
  ],
])('%s is told %j by its template', async (model, more, kwargs) => {
  await ask(model, more);
  expect(stub.requests.at(-1)?.chat_template_kwargs).toEqual(kwargs);
});

it.each([
  ['leveller', { reasoning_effort: 'none' }, "reasoning effort 'low' in place of 'none'", 'low'],
  ['leveller', { reasoning_effort: 'xhigh' }, "reasoning effort 'high' in place of 'xhigh'", 'high'],
  ['thinker', { verbosity: 'low' }, 'ignored verbosity: thinker has no levels', undefined],
] as const)('%s does not know %j, and says so', async (model, more, warning, level) => {
  const { response } = await ask(model, more).withResponse();
  expect(response.headers.get('bakehouse-warning')).toBe(warning);
  expect(stub.requests.at(-1)?.chat_template_kwargs).toEqual(level ? { reasoning_effort: level } : {});
});
