/** Runs `work` when it is asked to, one at a time: who asks during one gets another after it. */
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
    /** Runs nothing more, and waits for what runs. */
    end: async () => {
      ended = true;
      await running;
    },
  };
}
