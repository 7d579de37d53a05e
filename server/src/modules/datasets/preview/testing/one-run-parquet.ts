// Encode the file by hand, because no library writes Parquet with wrong metadata.

/** A field of Thrift's compact protocol, which encodes Parquet headers. */
type Value = { type: number; bytes: number[] };
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const integer =
  (type: number) =>
  (value: number): Value => ({ type, bytes: varint(value * 2) });
const [i32, i64] = [integer(5), integer(6)];
const text = (value: string): Value => ({
  type: 8,
  bytes: [...varint(value.length), ...Buffer.from(value)],
});
const list = (...items: Value[]): Value => ({
  type: 9,
  bytes: [(items.length << 4) | (items[0]?.type ?? 0), ...items.flatMap(({ bytes }) => bytes)],
});
const struct = (fields: Record<number, Value>): Value => {
  let before = 0;
  const bytes = Object.entries(fields).flatMap(([number, field]) => {
    const step = Number(number) - before;
    before = Number(number);
    return [(step << 4) | field.type, ...field.bytes];
  });
  return { type: 12, bytes: [...bytes, 0] };
};
const [DATA, DICTIONARY_PAGE, INT32, REQUIRED, PLAIN, RLE, RLE_DICTIONARY] = [0, 2, 1, 0, 0, 3, 8].map(
  i32,
) as [Value, Value, Value, Value, Value, Value, Value];

const size = (bytes: number[]) => i32(bytes.length);
const dictionary = [1, 0, 0, 0, 2, 0, 0, 0];
const dictionaryPage = [
  ...struct({
    1: DICTIONARY_PAGE,
    2: size(dictionary),
    3: size(dictionary),
    7: struct({ 1: i32(2), 2: PLAIN }),
  }).bytes,
  ...dictionary,
];

function dataPageOf(rows: number): number[] {
  // Bit width 1, one run, its value.
  const run = [1, ...varint(rows * 2), 0];
  return [
    ...struct({
      1: DATA,
      2: size(run),
      3: size(run),
      5: struct({ 1: i32(rows), 2: RLE_DICTIONARY, 3: RLE, 4: RLE }),
    }).bytes,
    ...run,
  ];
}

function footerOf(saidRows: number, dataPage: number[]): number[] {
  const start = 4;
  const bytes = i64(dictionaryPage.length + dataPage.length);
  const column = struct({
    1: INT32,
    2: list(PLAIN, RLE_DICTIONARY),
    3: list(text('a')),
    4: i32(0),
    5: i64(saidRows),
    6: bytes,
    7: bytes,
    9: i64(start + dictionaryPage.length),
    11: i64(start),
  });
  return struct({
    1: i32(1),
    2: list(struct({ 4: text('schema'), 5: i32(1) }), struct({ 1: INT32, 3: REQUIRED, 4: text('a') })),
    3: i64(saidRows),
    4: list(struct({ 1: list(struct({ 2: i64(start), 3: column })), 2: bytes, 3: i64(saidRows) })),
  }).bytes;
}

/**
 * Returns a Parquet file with one page: `rows` values of one column, as a single run of a dictionary of two
 * values. The footer states `saidRows` rows. The file is encoded by hand.
 */
export function oneRunParquet({ rows, saidRows }: { rows: number; saidRows: number }): Buffer<ArrayBuffer> {
  const dataPage = dataPageOf(rows);
  const footer = footerOf(saidRows, dataPage);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([
    Buffer.from('PAR1'),
    Buffer.from([...dictionaryPage, ...dataPage, ...footer]),
    length,
    Buffer.from('PAR1'),
  ]);
}
