/** After this time the next call starts, even if the current one is still running. */
const TIMEOUT_MS = 100;

type Options = {
  /** Maximum number of inputs per call. */
  max: number;
  timeoutMs?: number;
};

/**
 * Combines inputs that arrive at the same time into one call of `answerAll`, which returns the answers in the
 * same order. The first input is sent immediately. Inputs that arrive during a call are sent together in the
 * next one, so batches grow with the load. If a call fails, all its inputs get the error.
 */
export function batch<Input, Answer>(
  answerAll: (inputs: Input[]) => Promise<Answer[]>,
  { max, timeoutMs = TIMEOUT_MS }: Options,
): (input: Input) => Promise<Answer> {
  type Asker = { input: Input; resolve: (answer: Answer) => void; reject: (error: unknown) => void };
  let waiting: Asker[] = [];
  let working = false;

  async function answer(askers: Asker[]): Promise<void> {
    try {
      const answers = await answerAll(askers.map(({ input }) => input));
      if (answers.length !== askers.length)
        throw new Error(`got ${answers.length} answers for ${askers.length} inputs`);
      for (const [index, one] of answers.entries()) askers[index]?.resolve(one);
    } catch (error) {
      for (const { reject } of askers) reject(error);
    }
  }

  async function work(): Promise<void> {
    working = true;
    while (waiting.length > 0) {
      const askers = waiting.slice(0, max);
      waiting = waiting.slice(max);
      await atMost(timeoutMs, answer(askers));
    }
    working = false;
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (!working) void work();
    });
}

/** Resolves when `work` does, or after the timeout. */
function atMost(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
