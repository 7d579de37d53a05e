import { expect, test } from 'vitest';
import { findServingWarnings } from './warnings.ts';

const base = (...paths: string[]) => ({
  asset: { title: 'My Base' },
  files: paths.map((path) => ({ path })),
});
const obstacle = 'llama.cpp does not know the model family x.';
const sentence = (reason: string) => [
  `The model of this run can be downloaded, but not deployed on this machine, which serves text with llama.cpp: ${reason}`,
];

const run = (
  of: ReturnType<typeof base>,
  found: string | null = null,
  config: object | null = null,
  fields = {},
) => ({
  base: of,
  config: config as Record<string, unknown> | null,
  obstacle: found,
  fields: { lora_target_modules: ['q_proj' as const, 'lm_head' as const], max_chunk_size: 512, ...fields },
});

test.each([
  ['nothing if base and adapter can be served', base('model.safetensors', 'model.gguf'), null, []],
  ['a family that llama.cpp does not support', base('model.gguf'), obstacle, sentence(obstacle)],
  ['a base without GGUF', base('model.safetensors'), null, sentence('My Base has no GGUF file.')],
  [
    'a GGUF base with a missing part',
    base('m-00001-of-00002.gguf'),
    null,
    sentence('My Base is incomplete: m-00002-of-00002.gguf is missing.'),
  ],
])('with llama.cpp warns about %s', (_case, of, found, expected) => {
  expect(findServingWarnings(run(of, found), {})).toEqual(expected);
});

test.each([
  ['about neither a missing GGUF nor llama.cpp support', {}, {}, false],
  ['about lm_head of a Qwen model', { model_type: 'qwen2', tie_word_embeddings: false }, {}, true],
  ['not if lm_head is left out', { model_type: 'qwen2' }, { lora_target_modules: ['q_proj'] }, false],
  ['not if lm_head is tied to the embeddings', { model_type: 'qwen3', tie_word_embeddings: true }, {}, false],
  ['not for another family', { model_type: 'llama' }, {}, false],
])('with vLLM warns %s', (_case, config, fields, isWarned) => {
  const warnings = findServingWarnings(run(base('model.safetensors'), obstacle, config, fields), {
    servesTextOnGpus: true,
  });
  expect(warnings).toEqual(
    isWarned ? [expect.stringContaining('vLLM takes no adapter on lm_head of models like My Base')] : [],
  );
});

test.each([
  [null, 8192, null],
  [null, 9000, '8192 in one request unless it asks for a longer context.'],
  [{ max_position_embeddings: 2048 }, 4096, '2048 in one request.'],
  [{ max_position_embeddings: 131_072 }, 9000, '8192 in one request unless it asks for a longer context.'],
])(
  'with %j and examples of %i tokens reports the longest served context: %j',
  (config, max_chunk_size, served) => {
    const warnings = findServingWarnings(run(base('model.gguf'), null, config, { max_chunk_size }), {});
    expect(warnings).toEqual(
      served === null
        ? []
        : [
            `Examples may have up to ${max_chunk_size} tokens, but a deployment of the model reads and writes at most ${served}`,
          ],
    );
  },
);
