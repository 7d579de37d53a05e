import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkWeights } from './check-weights.ts';
import { findFault, weightsExtension } from './find-fault.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'bakehouse-weights-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** The sentence with which the file is refused; null when it passes. */
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

  test('whole files pass, with or without metadata and tensors', async () => {
    expect(await refusal('m.safetensors', ...write({ __metadata__: { format: 'pt' }, b, a }, 22))).toBeNull();
    expect(await refusal('m.safetensors', ...write({}, 0))).toBeNull();
    expect(
      await refusal('m.safetensors', ...write({ s: { dtype: 'F32', shape: [], data_offsets: [0, 4] } }, 4)),
    ).toBeNull();
  });

  test.each([
    ['a cut header', [u64(1000), '{}'], 'its header should have 1000 bytes, the whole file has 10'],
    ['a cut body', write({ a, b }, 20), 'its header lists 22 bytes of tensors, the file has 20'],
    ['bytes behind the end', write({ a, b }, 23), 'its header lists 22 bytes of tensors, the file has 23'],
    ['a header that is not JSON', write('{"a": ', 0), 'its header is not JSON'],
    ['a header that is a list', write('[]', 1), 'its header'],
    ['a gap', write({ b }, 22), 'the tensor b does not follow the one before it'],
    ['an overlap', write({ a, b: { ...b, data_offsets: [10, 16] } }, 16), 'the tensor b does not follow'],
    [
      'a size that is not the shape’s',
      write({ a: { ...a, shape: [5] } }, 16),
      'the tensor a has not the size of its shape',
    ],
    ['an unknown type', write({ a: { ...a, dtype: 'X9' } }, 16), 'the tensor a has the unknown type X9'],
    ['a wrong entry', write({ a: { dtype: 'F32' } }, 16), 'its header describes the tensor a wrongly'],
    ['nothing', [''], 'it ends too early'],
  ])('%s is named', async (_name, parts, reason) => {
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

  test('whole files pass', async () => {
    expect(
      await refusal('m.gguf', ...write([tensor('a', 0), tensor('b', 128, 256, 12)], 128 + 144)),
    ).toBeNull();
    expect(await refusal('m.gguf', 'GGUF', u32(3), u64(0), u64(0))).toBeNull();
  });

  test.each([
    ['a cut body', write([tensor('a', 0)], 127), 'the tensor a reaches beyond its end'],
    ['a wrong beginning', ['GGML', Buffer.alloc(40)], 'it does not begin as a GGUF file'],
    ['an unknown version', write([], 0, 9), 'it has the GGUF version 9; 2 and 3 are known'],
    ['an unknown type', write([tensor('a', 0, 32, 99)], 128), 'the tensor a has the unknown type 99'],
    ['an offset off the grid', write([tensor('a', 4)], 200), 'the tensor a is not aligned'],
    [
      'an endless list',
      ['GGUF', u32(3), u64(0), u64(1), text('x'), u32(9), u32(8), u64(2 ** 40)],
      'it ends too early',
    ],
    ['an impossible count', ['GGUF', u32(3), Buffer.alloc(8, 255), u64(0)], 'it names an impossible size'],
  ])('%s is named', async (_name, parts, reason) => {
    expect(await refusal('m.gguf', ...parts)).toContain(`m.gguf is damaged: ${reason}`);
  });
});

describe('pickles', () => {
  const short = (value: string) => [0x8c, value.length, ...Buffer.from(value)];

  test('that hold only data pass', async () => {
    expect(await refusal('d.pkl', [0x80, 4, 0x7d, ...short('a'), 0x4b, 1, 0x73, 0x2e])).toBeNull();
    expect(await refusal('d.pkl', 'ccollections\nOrderedDict\n)R.')).toBeNull();
    expect(await refusal('d.bin', [0x80, 2], 'ctorch._utils\n_rebuild_tensor_v2\n.')).toBeNull();
  });

  test('that cannot be loaded at all pass: they can do nothing', async () => {
    expect(await refusal('d.bin', [0xff, 0xfe, 1, 2, 3])).toBeNull();
  });

  test.each([
    ['GLOBAL', ['cposix\nsystem\n(S"true"\ntR.'], 'posix.system'],
    ['INST', ['(S"true"\nios\nsystem\n.'], 'os.system'],
    ['STACK_GLOBAL', [[0x80, 4, ...short('builtins'), 0x94, ...short('eval'), 0x93, 0x2e]], 'builtins.eval'],
    [
      'names out of the memo',
      [[0x80, 4, ...short('os'), 0x94, ...short('popen'), 0x94, 0x30, 0x30, 0x68, 0, 0x68, 1, 0x93, 0x2e]],
      'os.popen',
    ],
    [
      'names under others that are popped',
      [
        [
          0x80,
          4,
          ...short('os'),
          ...short('system'),
          ...short('collections'),
          ...short('OrderedDict'),
          0x30,
          0x30,
          0x93,
          0x2e,
        ],
      ],
      'os.system',
    ],
    ['a second pickle behind the first', ['N.', 'cos\nsystem\n.'], 'os.system'],
    ['getattr on something harmless', ['cbuiltins\ngetattr\n.'], 'builtins.getattr'],
    ['a second loader', ['ctorch.storage\n_load_from_bytes\n.'], 'torch.storage._load_from_bytes'],
  ])('that import by %s are refused', async (_name, parts, name) => {
    expect(await refusal('e.pt', ...parts)).toBe(
      `e.pt is not accepted: it would import ${name} where it is loaded; save it as safetensors.`,
    );
  });

  test('that hide what they import are refused', async () => {
    expect(await refusal('e.pkl', [0x80, 4], "S'\\x6fs'\n", "S'system'\n", [0x93, 0x2e])).toContain(
      'under a name that it computes',
    );
    expect(await refusal('e.pkl', [0x80, 2, 0x82, 1, 0x2e])).toContain('by registry number');
  });

  test('without end are refused', async () => {
    expect(await refusal('e.pkl', Buffer.alloc(2_100_000, 'N'))).toContain('it is too long to check');
  });

  test('inside PyTorch archives are checked, packed or not', async () => {
    const { deflateRawSync } = await import('node:zlib');
    const zip = (name: string, content: string, packed: boolean) => {
      const body = packed ? deflateRawSync(content) : Buffer.from(content);
      const fields = Buffer.concat([
        Buffer.from([packed ? 8 : 0, 0]),
        Buffer.alloc(8),
        u32(body.length),
        u32(content.length),
      ]);
      const nameLength = Buffer.from([name.length, 0]);
      const local = Buffer.concat([
        u32(0x04034b50),
        Buffer.from([20, 0, 0, 0]),
        fields,
        nameLength,
        Buffer.alloc(2),
        Buffer.from(name),
        body,
      ]);
      const entry = Buffer.concat([
        u32(0x02014b50),
        Buffer.from([20, 0, 20, 0, 0, 0]),
        fields,
        nameLength,
        Buffer.alloc(12),
        u32(0),
        Buffer.from(name),
      ]);
      const end = Buffer.concat([
        u32(0x06054b50),
        Buffer.from([0, 0, 0, 0, 1, 0, 1, 0]),
        u32(entry.length),
        u32(local.length),
        Buffer.alloc(2),
      ]);
      return Buffer.concat([local, entry, end]);
    };
    for (const packed of [false, true]) {
      expect(
        await refusal('m.pt', zip('archive/data.pkl', 'ccollections\nOrderedDict\n)R.', packed)),
      ).toBeNull();
      expect(await refusal('m.pt', zip('archive/data.pkl', 'cos\nsystem\n.', packed))).toContain('os.system');
    }
    expect(await refusal('m.pt', zip('archive/code/x.py', 'x', false))).toContain(
      'it is a TorchScript program',
    );
    expect(await refusal('m.pt', zip('archive/data.pkl', 'N.', false).subarray(0, 60))).toContain(
      'is damaged: its list of contents is missing',
    );
  });

  test('are not looked for in other files', async () => {
    expect(await refusal('notes.txt', 'cos\nsystem\n.')).toBeNull();
  });
});

describe('a check that takes long', () => {
  const check = (localPath: string, limitMs?: number) =>
    checkWeights({ localPath, name: path.basename(localPath), userId: 'ada' }, limitMs);
  const endless = async () => {
    const file = path.join(dir, 'long.pt');
    await writeFile(file, Buffer.alloc(2_100_000, 'N'));
    return file;
  };

  test('does not keep the server from its work', async () => {
    const checking = check(await endless()).catch((error: unknown) => error);
    expect(await Promise.race([checking, nextTurn('others had their turn')])).toBe('others had their turn');
    await checking;
  });

  test('ends with what it has found', async () => {
    const file = path.join(dir, 'short.pt');
    await writeFile(file, 'N.');
    await check(file);
    await expect(check(await endless())).rejects.toThrow('long.pt is not accepted: it is too long to check.');
  });

  test('is given up', async () => {
    await expect(check(await endless(), 1)).rejects.toThrow(
      'long.pt is not accepted: it takes too long to check.',
    );
  });
});
