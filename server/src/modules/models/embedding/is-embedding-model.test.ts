import { expect, it } from 'vitest';
import { parseGgufHead } from '../weights/gguf.ts';

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([length, bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** The start of a GGUF, cut off in its vocabulary. */
function head(architecture: string, pooling?: number): Buffer {
  const counts = Buffer.alloc(16);
  counts.writeBigUInt64LE(9n, 8);
  return Buffer.concat([
    ...[Buffer.from('GGUF'), number(3), counts],
    ...[text('general.architecture'), number(8), text(architecture)],
    ...(pooling === undefined ? [] : [text(`${architecture}.pooling_type`), number(4), number(pooling)]),
    ...[text('tokenizer.ggml.tokens'), number(9), number(8), number(7)],
  ]);
}

it.each([
  ['bert', undefined, 'embedding'],
  ['nomic-bert', undefined, 'embedding'],
  ['qwen3', 3, 'embedding'],
  ['qwen3', undefined, 'text'],
  ['llama', 0, 'text'],
  // A reranker, which produces no embeddings.
  ['qwen3', 4, 'text'],
])('a GGUF of %s with the pooling %s makes %s', (architecture, pooling, task) => {
  expect(parseGgufHead(head(architecture, pooling)).task).toBe(task);
});

it('a file that is not a GGUF counts as a text model', () => {
  expect(parseGgufHead(Buffer.from('GGUF, as far as these tests look')).task).toBe('text');
});
