import * as z from 'zod';

/** The model server's answer. Base64 saves both sides from formatting numbers. */
const answerSchema = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.string() })),
  usage: z.object({ prompt_tokens: z.int().min(0).max(10_000_000) }),
});

export type Vectors = { vectors: Buffer[]; tokens: number };

/** Parses an answer for `count` inputs. Throws if vectors are missing or differ in size. */
export function readVectors(text: string, count: number): Vectors {
  const { data, usage } = answerSchema.parse(JSON.parse(text));
  const sorted = data.toSorted((one, other) => one.index - other.index);
  const vectors = sorted.map(({ embedding }) => Buffer.from(embedding, 'base64'));
  const bytes = vectors[0]?.length ?? 0;
  const isWhole = sorted.length === count && sorted.every(({ index }, place) => index === place);
  if (!isWhole || bytes === 0 || bytes % 4 !== 0 || vectors.some(({ length }) => length !== bytes))
    throw new Error('model server answer does not contain the vectors of the inputs');
  return { vectors, tokens: usage.prompt_tokens };
}

/** Returns the first numbers of a vector of 32-bit floats, normalised to length 1. */
export function shorten(vector: Buffer, dimensions: number): Buffer {
  const numbers = toNumbers(vector).slice(0, dimensions);
  const length = Math.hypot(...numbers) || 1;
  const shortened = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) shortened.writeFloatLE(number / length, index * 4);
  return shortened;
}

export function toNumbers(vector: Buffer): number[] {
  return Array.from({ length: vector.length / 4 }, (_, index) => vector.readFloatLE(index * 4));
}
