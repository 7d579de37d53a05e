import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noSandbox, type SandboxedCommand } from '../../../platform/sandbox/sandbox.ts';
import { checkWeights, findFault, weightsExtension } from './check-model-file.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'bakehouse-weights-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Returns the error message for the file; null if it passes. */
async function refusal(name: string, ...parts: (Buffer | string | number[])[]): Promise<string | null> {
  const file = path.join(dir, name);
  await writeFile(
    file,
    Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
    ),
  );
  const extension = weightsExtension(name);
  const fault = extension && findFault(file, extension);
  return fault && `${name} ${fault}.`;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

describe('safetensors', () => {
  const write = (header: unknown, bytes: number) => {
    const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
    return [u64(json.length), json, Buffer.alloc(bytes)];
  };
  const a = { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] };
  const b = { dtype: 'BF16', shape: [3], data_offsets: [16, 22] };

  test('accepts complete files, with or without metadata and tensors', async () => {
    expect(await refusal('m.safetensors', ...write({ __metadata__: { format: 'pt' }, b, a }, 22))).toBeNull();
    expect(await refusal('m.safetensors', ...write({}, 0))).toBeNull();
    expect(
      await refusal('m.safetensors', ...write({ s: { dtype: 'F32', shape: [], data_offsets: [0, 4] } }, 4)),
    ).toBeNull();
  });

  test.each([
    ['a truncated header', [u64(1000), '{}'], 'its header should have 1000 bytes, the whole file has 10'],
    ['a truncated body', write({ a, b }, 20), 'its header lists 22 bytes of tensors, the file has 20'],
    ['bytes after the end', write({ a, b }, 23), 'its header lists 22 bytes of tensors, the file has 23'],
    ['a header that is not JSON', write('{"a": ', 0), 'its header is not JSON'],
    ['a header that is a list', write('[]', 1), 'its header'],
    ['a gap', write({ b }, 22), 'the tensor b does not follow the one before it'],
    ['an overlap', write({ a, b: { ...b, data_offsets: [10, 16] } }, 16), 'the tensor b does not follow'],
    [
      'a size that does not match the shape',
      write({ a: { ...a, shape: [5] } }, 16),
      'the tensor a has not the size of its shape',
    ],
    ['an unknown type', write({ a: { ...a, dtype: 'X9' } }, 16), 'the tensor a has the unknown type X9'],
    ['an invalid entry', write({ a: { dtype: 'F32' } }, 16), 'its header describes the tensor a wrongly'],
    ['nothing', [''], 'it ends too early'],
  ])('reports %s', async (_name, parts, reason) => {
    expect(await refusal('m.safetensors', ...parts)).toContain(`m.safetensors is damaged: ${reason}`);
  });
});

describe('GGUF', () => {
  const text = (value: string) => Buffer.concat([u64(value.length), Buffer.from(value)]);
  const tensor = (name: string, offset: number, values = 32, type = 0) =>
    Buffer.concat([text(name), u32(1), u64(values), u32(type), u64(offset)]);
  const metadata = [
    Buffer.concat([text('general.architecture'), u32(8), text('llama')]),
    Buffer.concat([text('general.alignment'), u32(4), u32(32)]),
    Buffer.concat([text('tokens'), u32(9), u32(8), u64(2), text('a'), text('b')]),
    Buffer.concat([text('scores'), u32(9), u32(6), u64(3), Buffer.alloc(12)]),
  ];
  const write = (tensors: Buffer[], dataBytes: number, version = 3) => {
    const head = Buffer.concat(
      ['GGUF', u32(version), u64(tensors.length), u64(metadata.length), ...metadata, ...tensors].map((part) =>
        Buffer.from(part),
      ),
    );
    return [head, Buffer.alloc((32 - (head.length % 32)) % 32), Buffer.alloc(dataBytes)];
  };

  test('accepts complete files', async () => {
    expect(
      await refusal('m.gguf', ...write([tensor('a', 0), tensor('b', 128, 256, 12)], 128 + 144)),
    ).toBeNull();
    expect(await refusal('m.gguf', 'GGUF', u32(3), u64(0), u64(0))).toBeNull();
  });

  test.each([
    ['a truncated body', write([tensor('a', 0)], 127), 'the tensor a reaches beyond its end'],
    [
      'a name of raw bytes',
      write([tensor('\x00\x1b[2J\x7f', 4)], 200),
      'the tensor \ufffd\ufffd[2J\ufffd is not aligned',
    ],
    ['an invalid signature', ['GGML', Buffer.alloc(40)], 'it does not begin as a GGUF file'],
    ['an unknown version', write([], 0, 9), 'it has the GGUF version 9; 2 and 3 are known'],
    ['an unknown type', write([tensor('a', 0, 32, 99)], 128), 'the tensor a has the unknown type 99'],
    ['an unaligned offset', write([tensor('a', 4)], 200), 'the tensor a is not aligned'],
    [
      'an endless list',
      ['GGUF', u32(3), u64(0), u64(1), text('x'), u32(9), u32(8), u64(2 ** 40)],
      'it ends too early',
    ],
    ['an impossible count', ['GGUF', u32(3), Buffer.alloc(8, 255), u64(0)], 'it names an impossible size'],
  ])('reports %s', async (_name, parts, reason) => {
    expect(await refusal('m.gguf', ...parts)).toContain(`m.gguf is damaged: ${reason}`);
  });
});

describe('pickles', () => {
  const sentence = (name: string) =>
    `${name} is not accepted: it holds Python pickles, which can run code where they are loaded; ` +
    'save the weights as safetensors.';

  test.each([
    ['of protocol 0 that import', ['cposix\nsystem\n(S"true"\ntR.']],
    ['of protocol 0 after a mark', ['(cposix\nsystem\nS"true"\no.']],
    ['of protocol 2', [[0x80, 2], 'ctorch._utils\n_rebuild_tensor_v2\n.']],
    ['of protocol 4', [[0x80, 4, 0x95, 3, 0, 0, 0, 0, 0, 0, 0, 0x7d, 0x94, 0x2e]]],
    [
      'of old PyTorch, followed by tensors',
      [[0x80, 2, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e], 'tensors'],
    ],
    ['in a PyTorch archive', ['PK\x03\x04', Buffer.alloc(26), 'archive/data.pkl']],
  ])('%s are refused', async (_name, parts) => {
    for (const name of ['m.bin', 'm.pt', 'm.PTH', 'm.ckpt', 'm.pkl', 'm.pickle']) {
      expect(await refusal(name, ...parts)).toBe(sentence(name));
    }
  });

  test('are not confused with other bytes', async () => {
    expect(await refusal('d.bin', '')).toBeNull();
    expect(await refusal('d.bin', [0xff, 0xfe, 1, 2, 3])).toBeNull();
    // Random data that starts like a pickle must not be mistaken for one.
    expect(await refusal('d.bin', [0x80, 2], 'cos\nsystem\n', randomBytes(500), 'x')).toBeNull();
    expect(await refusal('d.bin', 'can be\nany text\n')).toBeNull();
    expect(await refusal('notes.txt', 'cos\nsystem\n.')).toBeNull();
  });
});

describe('a slow check', () => {
  const sandbox = () => noSandbox(path.join(dir, 'lent'));
  const check = (localPath: string) =>
    checkWeights(sandbox(), { localPath, name: path.basename(localPath), userId: 'ada' });
  /** Many metadata entries, which must all be read. */
  const long = async () => {
    const file = path.join(dir, 'long.gguf');
    const entry = Buffer.concat([u64(1), Buffer.from('k'), u32(0), Buffer.from([1])]);
    const count = 3_000_000;
    const head = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(0), u64(count)]);
    await writeFile(file, Buffer.concat([head, Buffer.alloc(count * entry.length, entry)]));
    return file;
  };

  test('does not block the server', async () => {
    const checking = check(await long()).catch((error: unknown) => error);
    expect(await Promise.race([checking, nextTurn('others had their turn')])).toBe('others had their turn');
    await checking;
  });

  test('reports its finding', async () => {
    const file = path.join(dir, 'cut.gguf');
    await writeFile(file, 'GGUF');
    await expect(check(file)).rejects.toThrow('cut.gguf is damaged: it does not begin as a GGUF file.');
  });

  test('is aborted', async () => {
    // Run an endless program under the limits of the real one.
    const enclose = async ({ argv }: SandboxedCommand) => [
      ...argv.slice(0, argv.indexOf(process.execPath)),
      ...[process.execPath, '-e', 'for (;;);'],
    ];
    const endless = { ...sandbox(), enclose };
    const file = path.join(dir, 'small.gguf');
    await writeFile(file, 'GGUF');
    await expect(
      checkWeights(endless, { localPath: file, name: 'long.gguf', userId: 'ada' }, 1),
    ).rejects.toThrow('long.gguf is not accepted: it takes too long to check.');
  });
});
