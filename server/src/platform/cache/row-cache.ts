import type { RowChange, RowChanges } from './row-changes.ts';

type Options<Value> = {
  /** Maximum number of values; the oldest is evicted. */
  max: number;
  /** Whether the value was made from the row that changed. */
  concerns: (value: Value, change: RowChange) => boolean;
  /** Whether to cache a value. Defaults to all. */
  isKept?: (value: Value) => boolean;
};

/** Returns the value under `key`, from memory or loaded from the database. */
export type RowCache<Value> = <Loaded extends Value | undefined>(
  key: string,
  load: () => Promise<Loaded>,
) => Promise<Value | Loaded>;

/**
 * Caches database reads on hot paths. A value is used only if this process has received all changes to its
 * rows that were committed until less than a second ago; each of the tables has a trigger with
 * `notify_row_change`. Missing values are not cached.
 */
export function rowCache<Value extends object>(
  changes: RowChanges,
  { max, concerns, isKept = () => true }: Options<Value>,
): RowCache<Value> {
  const values = new Map<string, Value>();
  let changeCount = 0;
  changes.subscribe((change) => {
    changeCount += 1;
    if (change === null) values.clear();
    else for (const [key, value] of values) if (concerns(value, change)) values.delete(key);
  });

  return async (key, load) => {
    const known = changes.areCurrent() ? values.get(key) : undefined;
    if (known !== undefined) return known;
    const before = changeCount;
    const loaded = await load();
    // A change during the read may be missing from its result.
    if (loaded === undefined || changeCount !== before || !isKept(loaded)) return loaded;
    values.delete(key);
    if (values.size >= max) values.delete(values.keys().next().value ?? '');
    values.set(key, loaded);
    return loaded;
  };
}
