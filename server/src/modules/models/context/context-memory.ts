/** Layers that cache keys and values of every token, or only of the last `window` tokens. */
type Layers = { bytesPerToken: number; window: number | null };

/** The context of a model, as its files describe it. */
export type ModelContext = {
  /** Maximum context length of the model; null if unknown. */
  positions: number | null;
  layers: Layers[];
};

/** Context of a model about which nothing is known. */
export const unknownContext: ModelContext = { positions: null, layers: [] };

/** Returns the KV cache size in bytes for one request with this many tokens. */
export function contextBytes({ layers }: ModelContext, tokens: number): number {
  return layers.reduce(
    (sum, { bytesPerToken, window }) => sum + bytesPerToken * Math.min(tokens, window ?? tokens),
    0,
  );
}
