import * as z from 'zod';
import { type ByteSource, DamagedFile, printable } from './byte-source.ts';

/** Limit of the format. */
const HEADER_BYTES_MAX = 100_000_000;

/** Bits per value, by the format's type names. */
const BITS: Record<string, number> = {
  BOOL: 8,
  U8: 8,
  I8: 8,
  F8_E4M3: 8,
  F8_E5M2: 8,
  F8_E8M0: 8,
  F8_E4M3FNUZ: 8,
  F8_E5M2FNUZ: 8,
  U16: 16,
  I16: 16,
  F16: 16,
  BF16: 16,
  U32: 32,
  I32: 32,
  F32: 32,
  U64: 64,
  I64: 64,
  F64: 64,
  C64: 64,
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
};

const headerShape = z.record(
  z.string(),
  z.object({
    dtype: z.string(),
    shape: z.array(z.int().min(0)),
    data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
  }),
);

/**
 * Checks a safetensors file: an 8-byte length, a JSON header, then the tensors without gap or
 * overlap up to the last byte (https://github.com/huggingface/safetensors, 'Format').
 * Throws DamagedFile with the reason.
 */
export function checkSafetensors(source: ByteSource): void {
  const length = source.read(0, 8).readBigUInt64LE();
  if (length > BigInt(HEADER_BYTES_MAX) || Number(length) + 8 > source.size) {
    throw new DamagedFile(`its header should have ${length} bytes, the whole file has ${source.size}`);
  }
  const tensors = readHeader(source.read(8, Number(length)));
  let end = 0;
  for (const { name, dtype, shape, begin, until } of tensors) {
    const bits = BITS[dtype];
    if (bits === undefined)
      throw new DamagedFile(`the tensor ${name} has the unknown type ${printable(dtype)}`);
    const values = shape.reduce((product, size) => product * size, 1);
    if (begin !== end) throw new DamagedFile(`the tensor ${name} does not follow the one before it`);
    if ((until - begin) * 8 !== values * bits)
      throw new DamagedFile(`the tensor ${name} has not the size of its shape`);
    end = until;
  }
  const held = source.size - 8 - Number(length);
  if (end !== held) throw new DamagedFile(`its header lists ${end} bytes of tensors, the file has ${held}`);
}

function readHeader(bytes: Buffer) {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new DamagedFile('its header is not JSON', { cause: error });
  }
  if (typeof json !== 'object' || json === null) throw new DamagedFile('its header is not a JSON object');
  const { __metadata__: _metadata, ...entries } = json as Record<string, unknown>;
  const header = headerShape.safeParse(entries);
  if (!header.success) {
    throw new DamagedFile(
      `its header describes the tensor ${printable(String(header.error.issues[0]?.path[0]))} wrongly`,
    );
  }
  return Object.entries(header.data)
    .map(
      ([
        name,
        {
          dtype,
          shape,
          data_offsets: [begin, until],
        },
      ]) => ({ name: printable(name), dtype, shape, begin, until }),
    )
    .sort((a, b) => a.begin - b.begin || a.until - b.until);
}
