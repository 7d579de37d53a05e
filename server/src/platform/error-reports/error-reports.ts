import type { SentryAddress } from './sentry-address.ts';
import { type ErrorEvent, type Reported, toEvent } from './to-event.ts';

/** Reports errors to a service that accepts Sentry envelopes. */
export type ErrorReports = {
  /** Whether a service is configured. */
  isOn: boolean;
  /** Queues a report, or drops it if there are too many. Never waits and never throws. */
  report: (reported: Reported) => void;
  /** Sends the queued reports, which may take at most two seconds. */
  close: () => Promise<void>;
};

type Options = {
  /** Called once per outage. Also called with the number of reports that were dropped in a minute. */
  warn: (sentence: string) => void;
  /** Pauses after one, two and more consecutive failures; the last one repeats. */
  pausesMs?: readonly number[];
  timeoutMs?: number;
};

type Source = Reported['platform'];

/**
 * Limits of queued reports, and of reports per minute, because a broken installation repeats the same errors.
 * Browsers have separate, smaller limits, because any user can send reports from them.
 */
export const WAITING_MAX: Record<Source, number> = { node: 100, javascript: 30 };
export const PER_MINUTE_MAX: Record<Source, number> = { node: 60, javascript: 20 };
const SOURCES: Record<Source, string> = { node: 'this server', javascript: 'browsers' };
const MINUTE_MS = 60_000;
const TIMEOUT_MS = 5_000;
const PAUSES_MS = [10_000, 60_000, 300_000];
const PAUSE_MS_MAX = 3_600_000;
const CLOSE_MS = 2_000;

/** Reports nothing. */
export const noErrorReports: ErrorReports = {
  isOn: false,
  report: () => undefined,
  close: async () => undefined,
};

/** Sends reports one by one in the background. Reports that cannot be sent stay queued, up to the limit. */
export function openErrorReports(address: SentryAddress, options: Options): ErrorReports {
  const { warn, pausesMs = PAUSES_MS, timeoutMs = TIMEOUT_MS } = options;
  const waiting: { source: Source; event: ErrorEvent }[] = [];
  let failures = 0;
  let working: Promise<void> | null = null;
  let pause: NodeJS.Timeout | null = null;
  const budgets = { node: openBudget('node', warn), javascript: openBudget('javascript', warn) };

  async function work(): Promise<void> {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const answer = await deliver(address, next.event, timeoutMs);
      if (answer.isOver) {
        waiting.shift();
        if (answer.trouble === null) failures = 0;
        else recordFailure(answer.trouble);
        continue;
      }
      recordFailure(answer.trouble);
      const ms = answer.retryMs ?? pausesMs[Math.min(failures, pausesMs.length) - 1] ?? 0;
      pause = setTimeout(startWorking, Math.min(ms, PAUSE_MS_MAX)).unref();
      return;
    }
  }

  function recordFailure(trouble: string): void {
    failures += 1;
    if (failures === 1) warn(`errors cannot be reported: ${trouble}`);
  }

  function startWorking(): void {
    pause = null;
    working ??= work().finally(() => {
      working = null;
    });
  }

  return {
    isOn: true,
    report: (reported) => {
      const now = new Date();
      const source = reported.platform;
      const ahead = waiting.filter((one) => one.source === source).length;
      if (!budgets[source].admit(now.getTime(), ahead)) return;
      waiting.push({ source, event: toEvent(reported, now) });
      if (pause === null) startWorking();
    },
    close: async () => {
      if (pause !== null) clearTimeout(pause);
      else await Promise.race([working, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
      waiting.length = 0;
      for (const { tell } of Object.values(budgets)) tell();
    },
  };
}

/** Limits the reports of one source. The number of dropped ones is logged a minute after the first. */
function openBudget(source: Source, warn: Options['warn']) {
  let minute = { since: 0, taken: 0 };
  let leftOut = 0;
  let telling: NodeJS.Timeout | undefined;
  const tell = () => {
    clearTimeout(telling);
    if (leftOut > 0) warn(`${leftOut} errors of ${SOURCES[source]} were not reported: too many at a time`);
    leftOut = 0;
  };
  const admit = (now: number, ahead: number): boolean => {
    if (now - minute.since >= MINUTE_MS) minute = { since: now, taken: 0 };
    const isTaken = minute.taken < PER_MINUTE_MAX[source] && ahead < WAITING_MAX[source];
    if (isTaken) minute.taken += 1;
    else {
      if (leftOut === 0) telling = setTimeout(tell, MINUTE_MS).unref();
      leftOut += 1;
    }
    return isTaken;
  };
  return { admit, tell };
}

/**
 * `isOver` is true if the report was accepted or permanently rejected. Otherwise `retryMs` is the delay that
 * the service requested, if any.
 */
type Answer =
  | { isOver: true; trouble: string | null }
  | { isOver: false; trouble: string; retryMs: number | null };

async function deliver(
  { envelopeUrl, publicKey }: SentryAddress,
  event: ErrorEvent,
  timeoutMs: number,
): Promise<Answer> {
  try {
    const { status, headers, body } = await fetch(envelopeUrl, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        'content-type': 'application/x-sentry-envelope',
        'x-sentry-auth': `Sentry sentry_version=7, sentry_client=bakehouse/1.0, sentry_key=${publicKey}`,
      },
      body: toEnvelope(event),
    });
    await body?.cancel();
    if (status < 300) return { isOver: true, trouble: null };
    const trouble = `the service answered ${status}`;
    if (status === 429 || status >= 500) return { isOver: false, trouble, retryMs: retryMsOf(headers) };
    return { isOver: true, trouble };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { isOver: false, trouble: cause instanceof Error ? cause.message : 'no answer', retryMs: null };
  }
}

function toEnvelope(event: ErrorEvent): string {
  const lines = [{ event_id: event.event_id, sent_at: new Date().toISOString() }, { type: 'event' }, event];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Parses Retry-After in seconds; dates are ignored in favour of our own pauses. */
function retryMsOf(headers: Headers): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}
