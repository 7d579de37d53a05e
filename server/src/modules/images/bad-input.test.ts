import { BODY_BYTES_MAX } from '@bakehouse/contract/endpoint';
import {
  deleteGeneration,
  listGenerations,
  PROMPT_LENGTH_MAX,
  startGeneration,
} from '@bakehouse/contract/generations';
import { afterEach, describe, expect, test } from 'vitest';
import { testGenerations } from '../../testing/test-generations.ts';

// Generation is disabled, so that accepted requests stay queued with their parameters.
const setting = await testGenerations({ generates: false });
const { server } = setting;
const ada = await server.signUp('Ada');
const before = await setting.balance(ada);

const PARIS = '/api/external-paris-generation';
const POLL = '/v1/external/paris/images/generations';
const ESTIMATE = '/v1/external/estimate';
const START = '/api/v1/generations';
const QUOTE = '/api/v1/generations/quote';
const OPENAI = '/v1/images/generations';

/** Sends the body as text, because JSON.stringify cannot produce malformed JSON. */
async function post(path: string, body: string) {
  const headers = { 'x-api-key': ada.apiKey, 'content-type': 'application/json' };
  const answer = await fetch(server.url + path, { method: 'POST', headers, body });
  return { status: answer.status, body: (await answer.json()) as { error?: { param: string | null } } };
}
const stored = async () =>
  (await server.request(listGenerations, { params: { userId: ada.userId } }, { as: ada })).generations;

afterEach(async () => {
  for (const { id } of await stored())
    await server.request(deleteGeneration, { params: { id } }, { as: ada });
});

const tooLong = JSON.stringify('a'.repeat(PROMPT_LENGTH_MAX + 1));
/** Prompts, as JSON, that every endpoint must reject. */
const prompts = [
  ['none', undefined],
  ['null', 'null'],
  ['a number', '7'],
  ['a list', '["Bread"]'],
  ['empty', '""'],
  ['blank', '" \\n\\t "'],
  ['blank in other scripts', '"\\u00a0\\u3000\\ufeff"'],
  ['too long', tooLong],
  ['NUL', '"Bread\\u0000"'],
  ['a bell', '"Bread\\u0007"'],
  ['an escape sequence', '"\\u001b[31mBread"'],
  ['half a surrogate pair', '"Bread \\ud83e"'],
] as const;
const takers = [
  [PARIS, ''],
  [POLL, ''],
  [OPENAI, ''],
  [START, '"generator":"paris"'],
] as const;

describe('a prompt', () => {
  const table = takers.flatMap(([path, rest]) =>
    prompts.map(([what, prompt]) => [path, what, prompt, rest] as const),
  );
  test.each(table)('%s rejects a prompt that is: %s', async (path, _what, prompt, rest) => {
    const fields = [prompt && `"prompt":${prompt}`, rest].filter(Boolean);
    const answer = await post(path, `{${fields.join(',')}}`);
    expect([answer.status, answer.body.error?.param]).toEqual([400, 'prompt']);
  });
});

const asked = (parameters: string) => `{"generator":"paris","prompt":"Bread","parameters":${parameters}}`;
const quoted = (parameters: string) => `{"generator":"paris","parameters":${parameters}}`;

describe('a parameter', () => {
  test.each([
    ['{"cfg_scale":0.5}', 'parameters.cfg_scale'],
    ['{"cfg_scale":15.5}', 'parameters.cfg_scale'],
    ['{"cfg_scale":1e999}', 'parameters.cfg_scale'],
    ['{"cfg_scale":"NaN"}', 'parameters.cfg_scale'],
    ['{"cfg_scale":"7.5"}', 'parameters.cfg_scale'],
    ['{"cfg_scale":null}', 'parameters.cfg_scale'],
    ['{"cfg_scale":{"gt":1}}', 'parameters.cfg_scale'],
    ['{"num_inference_steps":9}', 'parameters.num_inference_steps'],
    ['{"num_inference_steps":201}', 'parameters.num_inference_steps'],
    ['{"num_inference_steps":10.5}', 'parameters.num_inference_steps'],
    ['{"num_inference_steps":-0}', 'parameters.num_inference_steps'],
    ['{"num_inference_steps":true}', 'parameters.num_inference_steps'],
    ['{"sampling_strategy":"best"}', 'parameters.sampling_strategy'],
    ['{"sampling_strategy":["top1"]}', 'parameters.sampling_strategy'],
    ['{"k":0}', 'parameters.k'],
    ['{"k":9}', 'parameters.k'],
    ['{"k":"Infinity"}', 'parameters.k'],
    ['{"output_format":"svg"}', 'parameters.output_format'],
    ['{"seed":-1}', 'parameters.seed'],
    ['{"seed":4294967296}', 'parameters.seed'],
    ['{"seed":1e300}', 'parameters.seed'],
    ['{"seed":1.5}', 'parameters.seed'],
    ['{"seed":"7"}', 'parameters.seed'],
    ['{"negative_prompt":"rain"}', 'parameters.negative_prompt'],
    ['{"constructor":1}', 'parameters.constructor'],
    ['[]', 'parameters'],
    ['"top1"', 'parameters'],
  ])('%s is rejected with its name, also in a quote', async (parameters, param) => {
    for (const [path, body] of [
      [START, asked(parameters)],
      [QUOTE, quoted(parameters)],
    ] as const) {
      const answer = await post(path, body);
      expect([path, answer.status, answer.body.error?.param]).toEqual([path, 400, param]);
    }
  });
});

describe('a body', () => {
  test.each([
    [START, '{"prompt":"Bread"}', 'generator'],
    [START, '{"generator":"dall-e","prompt":"Bread"}', 'generator'],
    [START, '{"generator":7,"prompt":"Bread"}', 'generator'],
    [START, '{"generator":"paris","prompt":"Bread","steps":20}', 'steps'],
    [START, '{"generator":"paris","prompt":"Bread","cost_max":"a lot"}', 'cost_max'],
    [START, '{"generator":"paris","prompt":"Bread","cost_max":1e999}', 'cost_max'],
    [QUOTE, '{"generator":"paris","prompt":"Bread"}', 'prompt'],
    [PARIS, '{"model":"flux","prompt":"Bread"}', 'model'],
    [POLL, '{"model":7,"prompt":"Bread"}', 'model'],
    [ESTIMATE, '{"model":7}', 'model'],
    [OPENAI, '{"prompt":"Bread","n":0}', 'n'],
    [OPENAI, '{"prompt":"Bread","n":2}', 'n'],
    [OPENAI, '{"prompt":"Bread","n":"1"}', 'n'],
    [OPENAI, '{"prompt":"Bread","size":"1024x"}', 'size'],
    [OPENAI, '{"prompt":"Bread","size":128}', 'size'],
    [OPENAI, '{"prompt":"Bread","response_format":"blob"}', 'response_format'],
    [OPENAI, '{"prompt":"Bread","output_format":"svg"}', 'output_format'],
    [OPENAI, '{"prompt":"Bread","style":"vivid"}', 'style'],
  ] as const)("%s rejects %s with the field's name", async (path, body, param) => {
    const answer = await post(path, body);
    expect([answer.status, answer.body.error?.param]).toEqual([400, param]);
  });

  test.each([PARIS, POLL, ESTIMATE, START, QUOTE, OPENAI])(
    '%s rejects a body that is not an object, is invalid JSON, too deep, or too large',
    async (path) => {
      const prototype = '{"generator":"paris","prompt":"Bread","__proto__":{"k":8}}';
      for (const body of [
        prototype,
        '[]',
        'null',
        '"Bread"',
        '{',
        `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
      ])
        expect([body, (await post(path, body)).status]).toEqual([body, 400]);
      const large = JSON.stringify({ prompt: 'a'.repeat(BODY_BYTES_MAX) });
      expect((await post(path, large)).status).toBe(413);
    },
  );
});

test('rejected calls have stored and charged nothing', async () => {
  expect(await stored()).toEqual([]);
  expect(await setting.balance(ada)).toEqual(before);
});

const plain = { cfg_scale: 7.5, num_inference_steps: 20, sampling_strategy: 'top1', k: 1 };

describe('the calls of the Paris page clamp', () => {
  test.each([
    ['"cfg_scale":0.5', { ...plain, cfg_scale: 1 }],
    ['"cfg_scale":99', { ...plain, cfg_scale: 15 }],
    ['"cfg_scale":"NaN"', plain],
    ['"cfg_scale":1e999', plain],
    ['"num_inference_steps":-5', { ...plain, num_inference_steps: 10 }],
    ['"num_inference_steps":1e9', { ...plain, num_inference_steps: 200 }],
    ['"num_inference_steps":"NaN"', plain],
    ['"sampling_strategy":"topk","k":99', { ...plain, sampling_strategy: 'topk', k: 8 }],
    ['"sampling_strategy":"topk","k":-1', { ...plain, sampling_strategy: 'topk', k: 1 }],
    ['"sampling_strategy":"full","k":3', { ...plain, sampling_strategy: 'full', k: 8 }],
    ['"sampling_strategy":{}', plain],
    ['"output_format":"svg"', { ...plain, output_format: 'png' }],
    ['"seed":1e300', plain],
    ['"seed":-7', plain],
    ['"seed":4294967295', { ...plain, seed: 4_294_967_295 }],
    ['"num_images":64,"negative_prompt":"rain"', plain],
  ])('%s', async (fields, used) => {
    const answer = await post(POLL, `{"prompt":"Bread",${fields}}`);
    expect(answer.status).toBe(202);
    const [newest] = await stored();
    expect(newest?.parameters).toMatchObject(used);
    expect(Object.keys(newest?.parameters ?? {}).toSorted()).toEqual([
      'cfg_scale',
      'k',
      'num_inference_steps',
      'output_format',
      'sampling_strategy',
      'seed',
    ]);
    expect(newest?.seed).toBeLessThan(2 ** 32);
  });
});

test('stores a prompt unchanged, with several lines and any script', async () => {
  const prompt = 'Ein Brötchen,\n\t焼きたてのパン 🥖, خبز طازج';
  const body = { generator: 'paris' as const, prompt };
  expect((await server.request(startGeneration, { body }, { as: ada })).prompt).toBe(prompt);
});
