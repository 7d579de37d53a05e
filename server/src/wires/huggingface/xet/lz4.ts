import { invalidParam } from '../../../platform/errors.ts';

const MAGIC = 0x184d2204;
const MATCH_MIN = 4;
/** Set in the length of a block that is not compressed. */
const AS_IT_IS = 0x80000000;

/**
 * Decodes an LZ4 frame, which must have exactly `length` bytes. Ignores its checksums. Throws
 * AppError('invalid_request').
 */
export function decodeLz4(frame: Buffer, length: number): Buffer {
  const output = Buffer.alloc(length);
  try {
    if (decodeFrame(frame, output) === length) return output;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw invalidParam('xorb', 'A piece of the xorb cannot be decompressed');
}

/** Decodes a frame. Returns the number of bytes written. Throws RangeError if it is out of bounds. */
function decodeFrame(frame: Buffer, output: Buffer): number {
  if (frame.readUInt32LE(0) !== MAGIC) throw new RangeError('no LZ4 frame');
  const flags = frame.readUInt8(4);
  const [hasSize, hasDictionary, hasBlockSum] = [flags & 0x08, flags & 0x01, flags & 0x10];
  let from = 7 + (hasSize ? 8 : 0) + (hasDictionary ? 4 : 0);
  let to = 0;
  for (;;) {
    const stated = frame.readUInt32LE(from);
    if (stated === 0) return to;
    const size = stated % AS_IT_IS;
    const block = frame.subarray(from + 4, from + 4 + size);
    if (block.length < size) throw new RangeError('it ends too early');
    to = stated >= AS_IT_IS ? copyBlock(block, output, to) : decodeBlock(block, output, to);
    from += 4 + size + (hasBlockSum ? 4 : 0);
  }
}

function copyBlock(block: Buffer, output: Buffer, to: number): number {
  if (to + block.length > output.length) throw new RangeError('it is too long');
  return to + block.copy(output, to);
}

/** Decodes a block: literals, each followed by a back reference. Returns the end of the output. */
function decodeBlock(block: Buffer, output: Buffer, start: number): number {
  let from = 0;
  let to = start;
  const readLength = (base: number): number => {
    let length = base;
    if (base !== 15) return length;
    for (let byte = 255; byte === 255; ) {
      byte = block.readUInt8(from);
      from += 1;
      length += byte;
    }
    return length;
  };
  while (from < block.length) {
    const token = block.readUInt8(from);
    from += 1;
    const literals = readLength(token >> 4);
    if (from + literals > block.length || to + literals > output.length)
      throw new RangeError('it is too long');
    block.copy(output, to, from, from + literals);
    from += literals;
    to += literals;
    if (from >= block.length) break;
    const offset = block.readUInt16LE(from);
    from += 2;
    const matched = readLength(token & 15) + MATCH_MIN;
    if (offset === 0 || offset > to || to + matched > output.length)
      throw new RangeError('it refers to nothing');
    // Copy byte by byte, because an overlapping copy reads bytes that it has just written.
    if (offset >= matched) output.copy(output, to, to - offset, to - offset + matched);
    else
      for (let index = 0; index < matched; index += 1) output[to + index] = output[to + index - offset] ?? 0;
    to += matched;
  }
  return to;
}
