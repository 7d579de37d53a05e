import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '../../../platform/errors.ts';
import { decodeLz4 } from './lz4.ts';

/** Returns a frame with one block and without checksums. */
function frameOf(block: Buffer, isStored = false): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(block.length + (isStored ? 0x80000000 : 0));
  const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
  return Buffer.concat([header, size, block, Buffer.alloc(4)]);
}

test('decodes literals and back references, including overlapping ones', () => {
  const block = Buffer.from([0x35, ...Buffer.from('abc'), 3, 0]);
  expect(decodeLz4(frameOf(block), 12).toString()).toBe('abcabcabcabc');
  expect(decodeLz4(frameOf(Buffer.from('crumb'), true), 5).toString()).toBe('crumb');
  // Lengths of 15 and more need additional bytes.
  const long = Buffer.from([0xf0, 5, ...Buffer.from('twenty letters of it')]);
  expect(decodeLz4(frameOf(long), 20).toString()).toBe('twenty letters of it');
});

test('rejects data that is truncated, contains an invalid reference or decodes to another length', () => {
  const block = Buffer.from([0x35, ...Buffer.from('abc'), 3, 0]);
  for (const length of [0, 11, 13]) expect(() => decodeLz4(frameOf(block), length)).toThrow(AppError);
  expect(() => decodeLz4(frameOf(Buffer.from([0x35, ...Buffer.from('abc'), 4, 0])), 12)).toThrow(AppError);
  expect(() => decodeLz4(frameOf(block).subarray(0, 12), 12)).toThrow(AppError);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        decodeLz4(frameOf(Buffer.from(bytes)), 64);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
  );
});
