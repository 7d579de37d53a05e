import type { Logger } from 'pino';
import type { StartTrouble } from '../reconcile/start-watch.ts';

const ASK_AGAIN_MS = 5_000;
const ANSWER_MS_MAX = 3_000;

/**
 * For a machine that does not hold the files: whether the server that its workloads fetch them from, and report to,
 * can be reached. Until then nothing is started here: it would end as silent. Null while it can.
 */
export function watchServer(
  serverUrl: () => Promise<string>,
  log: Logger,
): () => Promise<StartTrouble | null> {
  let askAt = Number.NEGATIVE_INFINITY;
  let answers = true;
  return async () => {
    if (performance.now() >= askAt) {
      const url = await serverUrl();
      const before = answers;
      const problem = await askHealth(url);
      answers = problem === null;
      askAt = performance.now() + ASK_AGAIN_MS;
      if (before && problem !== null)
        log.warn(
          { err: problem, url },
          'the server that holds the files does not answer this machine, so nothing is started here: check BAKEHOUSE_HOST and BAKEHOUSE_MACHINE_HOST there, and what lies between the two',
        );
      if (!before && answers) log.info(`The server at ${url} answers this machine again`);
    }
    const sentence =
      'Nothing can be started on this machine: it does not reach the server that holds the files.';
    return answers ? null : { sentence, isResting: true };
  };
}

async function askHealth(url: string): Promise<unknown> {
  try {
    const answer = await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    await answer.body?.cancel();
    return answer.ok ? null : new Error(`/healthz answers with ${answer.status}`);
  } catch (error) {
    return error;
  }
}
