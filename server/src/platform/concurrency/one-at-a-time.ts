/** Runs `work` on request, one run at a time: a request during a run starts one more after it. */
export function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void) {
  let running: Promise<void> | null = null;
  let again = false;
  let ended = false;

  function ask(): void {
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
        ask();
      });
  }

  return {
    ask,
    /** Starts nothing more, and waits for the current run. */
    end: async () => {
      ended = true;
      await running;
    },
  };
}
