import { expect, test } from 'vitest';
import { warnOfServing } from './warn-of-serving.ts';

const base = (...paths: string[]) => ({
  asset: { title: 'My Base' },
  files: paths.map((path) => ({ path })),
});
const obstacle = 'llama.cpp does not know the model family x.';
const sentence = (reason: string) => [
  `What this run makes can be downloaded, but not deployed on this machine, which serves text with llama.cpp: ${reason}`,
];

test.each([
  ['nothing where both can be served', base('model.safetensors', 'model.gguf'), null, {}, []],
  ['a family that llama.cpp does not know', base('model.gguf'), obstacle, {}, sentence(obstacle)],
  ['a base without GGUF', base('model.safetensors'), null, {}, sentence('My Base has no GGUF file.')],
  [
    'a base in GGUF of which a part is missing',
    base('m-00001-of-00002.gguf'),
    null,
    {},
    sentence('My Base is incomplete: m-00002-of-00002.gguf is missing.'),
  ],
  ['neither where vLLM serves', base('model.safetensors'), obstacle, { servesTextOnGpus: true }, []],
])('warns of %s', (_case, of, found, capacity, expected) => {
  expect(warnOfServing(of, found, capacity)).toEqual(expected);
});
