import { chatCompletions, completions } from '@bakehouse/contract/chat';
import { describe, expect, it } from 'vitest';
import { toServerRequest } from './completion-request.ts';
import { splitChoices } from './rename-field.ts';

const on = (engine: 'llamacpp' | 'vllm', contextTokens = 4096) => ({ engine, contextTokens });

const messages = [{ role: 'user', content: 'What do you bake?' }];
const chat = (more: object) => ({ model: 'm', messages, ...more });

/** Returns the error of a chat with these parameters, from the contract or a later check. */
function refusal(more: object): string {
  const parsed = chatCompletions.body?.safeParse(chat(more));
  if (!parsed?.success) {
    const [issue] = parsed?.error.issues ?? [];
    return `${issue?.path.join('.')} ${issue?.message}`;
  }
  try {
    toServerRequest(parsed.data, on('llamacpp'));
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('a chat', () => {
  it.each([
    [{ n: 9 }, 'n '],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ grammar: 'root ::= "a"' }, 'grammar'],
    [{ json_schema: {} }, 'json_schema'],
    [{ guided_regex: 'a' }, 'guided_regex'],
    [{ reasoning_effort: 'a lot' }, 'reasoning_effort'],
    [{ chat_template_kwargs: { tools: [] } }, 'chat_template_kwargs'],
    [{ top_logprobs: 21 }, 'top_logprobs'],
    [{ max_tokens: 1_000_000 }, 'max_tokens'],
    [{ temperature: -1 }, 'temperature'],
    [{ top_p: 1.5 }, 'top_p'],
    [{ stop: 5 }, 'stop'],
    [{ stop: Array.from({ length: 17 }, () => 'x') }, 'stop'],
    [{ logit_bias: { ' the': 5 } }, 'logit_bias'],
    [{ logit_bias: { '7': 500 } }, 'logit_bias'],
    [{ response_format: { type: 'json_object', schema: {} } }, 'response_format'],
    ...[[], [1], true, 'x'].map((schema): [object, string] => [
      { response_format: { type: 'json_schema', json_schema: { schema } } },
      'must be a JSON Schema',
    ]),
    [
      {
        response_format: {
          type: 'json_schema',
          json_schema: { strict: true, schema: { properties: { a: { pattern: '\\b' } } } },
        },
      },
      "response_format.json_schema.schema.properties.a: 'pattern'",
    ],
    [{ top_logprobs: 5 }, "set 'logprobs' to true"],
    [{ messages: [{ role: 'critic', content: 'x' }] }, 'role'],
    [{ messages: [{ role: 'user', content: 'x'.repeat(300_000) }] }, 'maximum context length is 4096 tokens'],
  ])('rejects %j by its field', (more, sentence) => {
    expect(refusal(more)).toContain(sentence);
  });

  // Some of these fields would let a user choose another user's slot or cache.
  it.each([{ audio: { voice: 'x' } }, { id_slot: 1 }, { cache_prompt: true }, { cache_salt: 'x' }])(
    'drops %j',
    (more) => {
      expect(toServerRequest(chat(more), on('llamacpp'))).toEqual(toServerRequest(chat({}), on('llamacpp')));
    },
  );

  it('rejects a picture in a text part, and more parts than a message may have', () => {
    const hidden = { type: 'text', text: 'What is this?', image_url: { url: 'https://example.com/a.png' } };
    expect(refusal({ messages: [{ role: 'user', content: [hidden] }] })).toBe(
      'messages.0.content.0 A text part has its words in `text`, and no `image_url`',
    );
    const content = Array.from({ length: 2001 }, () => ({ type: 'text', text: '' }));
    expect(refusal({ messages: [{ role: 'user', content }] })).toContain('messages.0.content');
  });

  it.each([
    { tools: [], tool_choice: 'none', n: 1, user: 'x', metadata: { a: 'b' }, parallel_tool_calls: true },
    { prompt_cache_key: 'x', prompt_cache_retention: '24h', prompt_cache_options: { mode: 'implicit' } },
    { stop: 'x', seed: 7, logprobs: true, top_logprobs: 20, logit_bias: { '7': -100 } },
    { tools: null, response_format: null, stop: null, max_tokens: null, reasoning_effort: null },
    { response_format: { type: 'json_schema', json_schema: { schema: { pattern: '[0-9]' } } } },
    { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } } },
  ])('accepts %j', (more) => {
    expect(refusal(more)).toBe('');
  });

  it('sends the checked fields to the model server, always as a stream', () => {
    const request = toServerRequest(
      chat({
        stream: false,
        temperature: 0.5,
        user: 'x',
        seed: null,
        repetition_penalty: 1.1,
        messages: [{ role: 'developer', content: 'Be brief', refusal: null }],
        response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' }, grammar: 'x' } },
      }),
      on('llamacpp'),
    );
    expect(request).toEqual({
      temperature: 0.5,
      messages: [{ role: 'system', content: 'Be brief' }],
      grammar: expect.stringContaining('root ::= '),
      repeat_penalty: 1.1,
      timings_per_token: true,
      stream_options: { include_usage: true },
      stream: true,
    });
  });
});

describe('a chat that ends with the start of an answer', () => {
  const begun = (...answers: object[]) => ({
    model: 'm',
    messages: [...messages, ...answers.map((answer) => ({ role: 'assistant', ...answer }))],
  });
  const goesOn = { continue_final_message: true, add_generation_prompt: false };

  it('tells vLLM to continue the answer', () => {
    expect(toServerRequest(begun({ content: 'Well, ' }), on('vllm'))).toMatchObject(goesOn);
    const asked = toServerRequest(begun({ content: 'Well, ' }), on('llamacpp'));
    expect(asked).not.toHaveProperty('continue_final_message');
    const answered = chat({ messages: [...messages, { role: 'assistant', content: 'Bread' }, ...messages] });
    expect(toServerRequest(answered, on('vllm'))).not.toHaveProperty('continue_final_message');
    expect(toServerRequest({ model: 'm', prompt: 'Bread is' }, on('vllm'))).not.toHaveProperty(
      'continue_final_message',
    );
  });

  it('joins several trailing assistant messages', () => {
    const parts = [{ type: 'text', text: 'we bake' }];
    const answers = [{ content: 'Well,' }, { content: null }, { content: parts }, { content: 'Rolls' }];
    for (const engine of ['llamacpp', 'vllm'] as const) {
      expect(toServerRequest(begun(...answers), on(engine))).toMatchObject({
        messages: [...messages, { role: 'assistant', content: 'Well,\nwe bake\nRolls' }],
      });
    }
  });
});

it('requests one candidate from llama.cpp if log-probabilities are requested without candidates', () => {
  const asked = (body: Parameters<typeof toServerRequest>[0]) => toServerRequest(body, on('llamacpp'));
  for (const more of [{}, { top_logprobs: 0 }])
    expect(asked(chat({ logprobs: true, ...more }))).toMatchObject({ logprobs: true, top_logprobs: 1 });
  expect(asked(chat({ logprobs: true, top_logprobs: 3 }))).toMatchObject({ top_logprobs: 3 });
  expect(asked(chat({}))).not.toHaveProperty('top_logprobs');
  expect(asked({ model: 'm', prompt: 'Bread is', logprobs: 0 })).toMatchObject({ logprobs: 1 });
});

describe('a text completion', () => {
  const parse = (more: object) => completions.body?.safeParse({ model: 'm', prompt: 'Bread is', ...more });

  it.each([
    { echo: true },
    { messages },
    { grammar: 'x' },
    { suffix: ' good' },
    { best_of: 2 },
    { logprobs: 6 },
    { prompt: [] },
    { n: 9 },
  ])('rejects %j', (more) => {
    expect(parse(more)?.success).toBe(false);
  });

  it.each(['llamacpp', 'vllm'] as const)('defaults to 16 tokens on %s', (engine) => {
    const maximum = (more: object) =>
      toServerRequest({ model: 'm', prompt: 'Bread is', ...more }, on(engine));
    expect(maximum({ max_tokens: null })).toMatchObject({ max_tokens: 16 });
    expect(maximum({ max_tokens: 300 })).toMatchObject({ max_tokens: 300 });
    expect(toServerRequest(chat({}), on(engine))).not.toHaveProperty('max_tokens');
    // Without a default maximum, each answer would hold the cost of the whole context.
    expect(toServerRequest(chat({}), on(engine, 8192))).toMatchObject({ max_tokens: 4096 });
  });

  it.each([
    ['Bread is', ['Bread is']],
    [['Bread is'], ['Bread is']],
    [[1, 2], [[1, 2]]],
    [
      [[1, 2], [3]],
      [[1, 2], [3]],
    ],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  ])('splits %j into separate requests', (prompt, asked) => {
    const parsed = parse({ prompt, echo: false, suffix: null, logprobs: 5 });
    expect(parsed?.success).toBe(true);
    const choices = splitChoices({ model: 'm', prompt });
    expect(choices.map(({ body }) => toServerRequest(body, on('vllm')))).toMatchObject(
      asked.map((one) => ({ prompt: one })),
    );
  });
});

describe('several answers', () => {
  it('are requested one by one, each with its own seed, and each prompt counts once', () => {
    const choices = splitChoices({ model: 'm', prompt: ['a', 'b'], n: 2, seed: 7 });
    expect(choices).toEqual([
      { index: 0, isFirst: true, body: { model: 'm', prompt: 'a', seed: 7 } },
      { index: 1, isFirst: false, body: { model: 'm', prompt: 'a', seed: 8 } },
      { index: 2, isFirst: true, body: { model: 'm', prompt: 'b', seed: 7 } },
      { index: 3, isFirst: false, body: { model: 'm', prompt: 'b', seed: 8 } },
    ]);
  });

  it('are limited', () => {
    const prompt = Array.from({ length: 9 }, () => 'a');
    expect(() => splitChoices({ model: 'm', prompt, n: 8 })).toThrow('n: at most 64 answers per request');
  });
});
