/** Texts, or token ids of the model's own tokenizer. */
export type EmbeddingInputs = string[] | number[][];

/** What a model server is asked at once: enough to be computed together, little enough that others take turns and a client that leaves costs little. */
const BATCH = { inputs: 32, bytes: 16 * 1024 };

/** The tokens that begin and end a text, at most. */
const AROUND_TOKENS = 4;

/** What a body says in one of four ways. Pure. */
export function toInputs(input: string | string[] | number[] | number[][]): EmbeddingInputs {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number' ? [input as number[]] : (input as string[] | number[][]);
}

/** Whether they are token ids. Pure. */
export function areTokens(inputs: EmbeddingInputs): inputs is number[][] {
  return typeof inputs[0] !== 'string';
}

/** As many tokens as the inputs can have: a token is a byte at least, and none is read beyond the context. Pure. */
export function tokensMax(inputs: EmbeddingInputs, contextTokens: number): number {
  return inputs.reduce<number>(
    (sum, input) => sum + Math.min(bytesOf(input) + AROUND_TOKENS, contextTokens),
    0,
  );
}

/** The inputs in parts that a model server computes at once, in their order, each with where it begins. Pure. */
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

/** The parts with that first which holds the longest input: where one is too long, that is found before others are computed. Pure. */
export function longestFirst<Batch extends { inputs: EmbeddingInputs }>(batches: Batch[]): Batch[] {
  const longest = ({ inputs }: Batch) =>
    inputs.reduce<number>((most, input) => Math.max(most, bytesOf(input)), 0);
  return batches.toSorted((one, other) => longest(other) - longest(one));
}

/** For token ids about what as many tokens of text have. */
function bytesOf(input: string | number[]): number {
  return typeof input === 'string' ? Buffer.byteLength(input) : input.length * 4;
}
