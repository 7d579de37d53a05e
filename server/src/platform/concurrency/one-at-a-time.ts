/** Runs `work` on request, never twice at the same time. Requests during a run cause one more run. */
export function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void) {
  let running: Promise<void> | null = null;
  let again = false;
  let ended = false;

  function startNext(): void {
    if (ended) return;
    if (running) {
      again = true;
      return;
    }
    running = work()
      .catch(onError)
      .finally(() => {
        running = null;
        if (!again) return;
        again = false;
        startNext();
      });
  }

  return {
    request: startNext,
    /** Ignores further requests, and waits for the current run. */
    end: async () => {
      ended = true;
      await running;
    },
  };
}

/** Runs work of one key sequentially within this process, in order of arrival. */
export function sequentialByKey(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, mine);
    const leave = () => {
      if (last.get(key) === mine) last.delete(key);
    };
    mine.then(leave, leave);
    return mine;
  };
}

/** Runs all steps sequentially, even if one fails. Throws the error, or an AggregateError for several. */
export async function runAllSteps(steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} steps of the end failed`);
  if (errors.length === 1) throw errors[0];
}
