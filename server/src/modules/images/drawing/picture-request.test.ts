import { PROMPT_LENGTH_MAX } from '@bakehouse/contract/generations';
import { expect, test } from 'vitest';
import type { GenerationRow } from '../queries.ts';
import { pictureRequest } from './picture-request.ts';

const toldOf = (prompt: string) => {
  const row = {
    ...{ generator: 'flux', prompt, model: 'my-painter', id: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' },
    ...{ seed: 7n, steps: 28, parameters: { guidance_scale: 3.5, num_inference_steps: 28, seed: 7 } },
  } as unknown as GenerationRow;
  return pictureRequest(row, null).metadata;
};
const bytesOf = (metadata: Record<string, string>) =>
  Buffer.byteLength(Object.entries(metadata).flat().join(''));

test('a file tells the whole prompt, as long as it may be', () => {
  const prompt = 'bread '.repeat(1_000).slice(0, PROMPT_LENGTH_MAX);
  expect(toldOf(prompt)).toMatchObject({ prompt, model: 'my-painter', guidance_scale: '3.5' });
});

test.each(['', 'a', 'ab'])(
  'of one in larger characters after "%s" it tells as many as fit, all of them whole',
  (start) => {
    const { prompt = '', ...rest } = toldOf(start.padEnd(PROMPT_LENGTH_MAX, '麺'));
    expect(prompt).toMatch(new RegExp(`^${start}麺+$`));
    const bytes = bytesOf({ prompt, ...rest });
    expect(bytes).toBeLessThanOrEqual(8_192);
    expect(bytes).toBeGreaterThan(8_192 - Buffer.byteLength('麺'));
  },
);
