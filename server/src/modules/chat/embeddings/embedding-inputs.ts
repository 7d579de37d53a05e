/** Texts, or token ids of the model's tokenizer. */
export type EmbeddingInputs = string[] | number[][];

/**
 * Maximum size of one request to a model server. Inputs are faster together, but small batches let users take
 * turns and waste little when a client disconnects.
 */
const BATCH = { inputs: 32, bytes: 16 * 1024 };

/** Maximum number of special tokens around a text. */
const AROUND_TOKENS = 4;

/** Converts the four input formats to one. */
export function toInputs(input: string | string[] | number[] | number[][]): EmbeddingInputs {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number' ? [input as number[]] : (input as string[] | number[][]);
}

/** Returns true if the inputs are token ids. */
export function areTokens(inputs: EmbeddingInputs): inputs is number[][] {
  return typeof inputs[0] !== 'string';
}

/** Returns the maximum number of tokens of the inputs: one per byte, at most a context per input. */
export function tokensMax(inputs: EmbeddingInputs, contextTokens: number): number {
  return inputs.reduce<number>(
    (sum, input) => sum + Math.min(bytesOf(input) + AROUND_TOKENS, contextTokens),
    0,
  );
}

/**
 * Splits the inputs, in order, into batches. The inputs of a batch are computed together; `start` is the
 * index of its first input.
 */
export function toBatches(inputs: EmbeddingInputs): { start: number; inputs: EmbeddingInputs }[] {
  const batches: { start: number; inputs: EmbeddingInputs }[] = [];
  let start = 0;
  let bytes = 0;
  for (const [index, input] of inputs.entries()) {
    const own = bytesOf(input);
    if (index > start && (index - start >= BATCH.inputs || bytes + own > BATCH.bytes)) {
      batches.push({ start, inputs: inputs.slice(start, index) });
      start = index;
      bytes = 0;
    }
    bytes += own;
  }
  return [...batches, { start, inputs: inputs.slice(start) }];
}

/**
 * Sorts the batches by their longest input, longest first: an input that is too long then fails before others
 * are computed.
 */
export function longestFirst<Batch extends { inputs: EmbeddingInputs }>(batches: Batch[]): Batch[] {
  const longest = ({ inputs }: Batch) =>
    inputs.reduce<number>((most, input) => Math.max(most, bytesOf(input)), 0);
  return batches.toSorted((one, other) => longest(other) - longest(one));
}

/** Estimates token ids as four bytes each. */
function bytesOf(input: string | number[]): number {
  return typeof input === 'string' ? Buffer.byteLength(input) : input.length * 4;
}
