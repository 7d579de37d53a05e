import { expect, test, vi } from 'vitest';
import { textPieces } from './text-pieces.ts';

function bodyOf(
  pieces: Uint8Array<ArrayBuffer>[],
  cancel?: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
    ...(cancel && { cancel }),
  });
}

async function all(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = '';
  for await (const piece of textPieces(body)) text += piece;
  return text;
}

test('a character split between two chunks is decoded whole', async () => {
  const bytes = new TextEncoder().encode('Brötchen');
  expect(await all(bodyOf([bytes.slice(0, 3), bytes.slice(3)]))).toBe('Brötchen');
});

test('works in browsers without async iteration of streams', async () => {
  const iterate = ReadableStream.prototype[Symbol.asyncIterator];
  Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator);
  try {
    expect(await all(bodyOf([new TextEncoder().encode('Brot')]))).toBe('Brot');
  } finally {
    ReadableStream.prototype[Symbol.asyncIterator] = iterate;
  }
});

test('stopping early cancels the response', async () => {
  const cancel = vi.fn();
  const body = bodyOf([new Uint8Array([65]), new Uint8Array([66]), new Uint8Array([67])], cancel);
  const pieces = textPieces(body);
  await pieces.next();
  await pieces.return(undefined);
  await vi.waitFor(() => expect(cancel).toHaveBeenCalledOnce());
});

test('rethrows stream errors', async () => {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.error(new Error('the line broke')),
  });
  await expect(all(body)).rejects.toThrow('the line broke');
});
