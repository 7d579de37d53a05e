/** Layers that remember keys and values of each token, as many bytes for each, or of the last `window` tokens alone. */
type Layers = { bytesPerToken: number; window: number | null };

/** What a model's files say of its context. */
export type ModelContext = {
  /** The most tokens that it was made to read; null where nothing says so. */
  positions: number | null;
  layers: Layers[];
};

/** What nothing is known of. */
export const unknownContext: ModelContext = { positions: null, layers: [] };

/** The bytes that one request of so many tokens keeps in memory: its keys and values (KV cache). Pure. */
export function contextBytes({ layers }: ModelContext, tokens: number): number {
  return layers.reduce(
    (sum, { bytesPerToken, window }) => sum + bytesPerToken * Math.min(tokens, window ?? tokens),
    0,
  );
}
