const ENTRIES_MAX = 50;

type Entry = { answer: Promise<unknown>; abort: AbortController; readers: number };

/** Reads that are under way, by what they ask. */
const entries = new Map<string, Entry>();

/**
 * Has everybody who asks the same while it is under way share one request: at most 50 are
 * remembered, a further one is made for itself. It is aborted when the last one has gone.
 */
export function shareRead<T>(
  key: string,
  signal: AbortSignal | undefined,
  read: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const known = entries.get(key);
  if (!known && entries.size >= ENTRIES_MAX) return read(signal);
  const entry = known ?? begin(key, read);
  entry.readers += 1;
  if (!signal) return entry.answer as Promise<T>;
  return new Promise<T>((resolve, reject) => {
    const leave = () => {
      entry.readers -= 1;
      if (entry.readers === 0) {
        forget(key, entry);
        entry.abort.abort(signal.reason);
      }
      reject(signal.reason);
    };
    entry.answer
      .then((answer) => resolve(answer as T), reject)
      .finally(() => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}

/** What is under way may be of before a write: who asks from now on asks anew. */
export function forgetReads(): void {
  entries.clear();
}

function begin<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Entry {
  const abort = new AbortController();
  const entry: Entry = { abort, readers: 0, answer: read(abort.signal) };
  entries.set(key, entry);
  entry.answer = entry.answer.finally(() => forget(key, entry));
  return entry;
}

function forget(key: string, entry: Entry): void {
  if (entries.get(key) === entry) entries.delete(key);
}
