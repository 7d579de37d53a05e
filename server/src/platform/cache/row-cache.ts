import type { RowChange, RowChanges } from './row-changes.ts';

type Options<Value> = {
  /** Maximum number of values; the oldest is evicted. */
  max: number;
  /** Returns true if the value depends on the changed row. */
  concerns: (value: Value, change: RowChange) => boolean;
  /** Returns true if the value may be cached. Defaults to caching every value. */
  isKept?: (value: Value) => boolean;
};

/** Returns the cached value under `key`, or loads it from the database. */
export type RowCache<Value> = <Loaded extends Value | undefined>(
  key: string,
  load: () => Promise<Loaded>,
) => Promise<Value | Loaded>;

/**
 * Caches database reads on hot paths. A cached value is used only if it is current: this process has received
 * every change that was committed up to a second ago. Requires a trigger with `notify_row_change` on each of
 * the tables. Missing values are not cached.
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
    // The row may have changed after it was read, so do not cache it.
    if (loaded === undefined || changeCount !== before || !isKept(loaded)) return loaded;
    values.delete(key);
    if (values.size >= max) values.delete(values.keys().next().value ?? '');
    values.set(key, loaded);
    return loaded;
  };
}
