const ENTRIES_MAX = 50;

type Entry = { answer: Promise<unknown>; abort: AbortController; readers: number };

/** Requests in flight, by their key. */
const entries = new Map<string, Entry>();

/**
 * Shares one request between concurrent identical reads. Tracks at most 50 requests; others are not shared.
 * Aborts the request when the last caller has aborted.
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
        deleteEntry(key, entry);
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

/** Call after a write: requests in flight may return older data, so new reads must not join them. */
export function discardSharedReads(): void {
  entries.clear();
}

function begin<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Entry {
  const abort = new AbortController();
  const entry: Entry = { abort, readers: 0, answer: read(abort.signal) };
  entries.set(key, entry);
  entry.answer = entry.answer.finally(() => deleteEntry(key, entry));
  return entry;
}

function deleteEntry(key: string, entry: Entry): void {
  if (entries.get(key) === entry) entries.delete(key);
}
