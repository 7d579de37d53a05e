import type { RowChange, RowChanges } from './row-changes.ts';

type Options<Value> = {
  /** Values at most; beyond it the one that was read first goes. */
  max: number;
  /** Whether a change of that row is one of what the value was made from. */
  concerns: (value: Value, change: RowChange) => boolean;
  /** Whether a value is kept at all; all are unless said. */
  isKept?: (value: Value) => boolean;
};

/** Answers what is known under `key`, or else what `load` reads from the database. */
export type RowCache<Value> = <Loaded extends Value | undefined>(
  key: string,
  load: () => Promise<Loaded>,
) => Promise<Value | Loaded>;

/**
 * Keeps in memory what was read from the database, for reads that every request waits for. A value is used only
 * while this process is certain to have received, until less than a second ago, every change to the rows that
 * it was made from; each of their tables has a trigger with `notify_row_change`. Nothing that is not there is kept.
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
    // What changed while it was read may not be in it.
    if (loaded === undefined || changeCount !== before || !isKept(loaded)) return loaded;
    values.delete(key);
    if (values.size >= max) values.delete(values.keys().next().value ?? '');
    values.set(key, loaded);
    return loaded;
  };
}
