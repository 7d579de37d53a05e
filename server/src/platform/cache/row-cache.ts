import type { RowChange, RowChanges } from './row-changes.ts';

type Options<Value> = {
  /** Values at most; the oldest is dropped for a new one. */
  max: number;
  /** Whether the value was made from the row that changed. */
  concerns: (value: Value, change: RowChange) => boolean;
  /** Whether a value is kept; all are unless said. */
  isKept?: (value: Value) => boolean;
};

/** Answers the value under `key`, from memory or by `load` from the database. */
export type RowCache<Value> = <Loaded extends Value | undefined>(
  key: string,
  load: () => Promise<Loaded>,
) => Promise<Value | Loaded>;

/**
 * Caches what is read from the database on hot paths. A value is used only while this process has certainly heard,
 * until less than a second ago, every change to the rows that it was made from; each of their tables has a trigger
 * with `notify_row_change`. Missing values are not cached.
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
    // A change during the read may be missing from it.
    if (loaded === undefined || changeCount !== before || !isKept(loaded)) return loaded;
    values.delete(key);
    if (values.size >= max) values.delete(values.keys().next().value ?? '');
    values.set(key, loaded);
    return loaded;
  };
}
