import { Transform } from 'node:stream';

/**
 * Channels of the protocol. The reader sends pieces of a program's output and its exit status. The caller
 * sends pieces of the input, and the end of the input.
 */
export type Channel = 'stdin' | 'stdout' | 'stderr' | 'end';
export type End = { code: number | null; signal: NodeJS.Signals | null };

const channels: Channel[] = ['end', 'stdout', 'stderr', 'stdin'];
const HEAD = 5;
/** Far larger than any chunk of a pipe. */
const BYTES_MAX = 16 * 1024 * 1024;

/** Encodes a piece: the number of its channel, its length in four bytes, and its bytes. */
export function frame(channel: Channel, bytes: Buffer): Buffer {
  const head = Buffer.alloc(HEAD);
  head.writeUInt8(channels.indexOf(channel), 0);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Encodes a stream as pieces of a channel. */
export function framed(channel: Channel): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, frame(channel, chunk)),
  });
}

/** Decodes the pieces in a stream. Throws on invalid data. */
export async function* readFrames(
  stream: AsyncIterable<Buffer>,
): AsyncGenerator<{ channel: Channel; bytes: Buffer }> {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= HEAD) {
      const channel = channels[rest.readUInt8(0)];
      const length = rest.readUInt32BE(1);
      if (!channel || length > BYTES_MAX) throw new Error('invalid frame');
      if (rest.length < HEAD + length) break;
      yield { channel, bytes: rest.subarray(HEAD, HEAD + length) };
      rest = rest.subarray(HEAD + length);
    }
  }
}
