import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatBytes } from '@bakehouse/contract/labels';
import { AppError, conflict, unavailable } from '../../../platform/errors.ts';
import { linkSignals } from '../../../platform/link-signals.ts';
import { fileUrl } from '../public/describe-repository.ts';
import { hubResponseError, nameOf, type Repo, type RepoFile, readRetryAfter } from '../public/hub-client.ts';
import { type HubAccess, requestHub } from '../public/request-hub.ts';
import type { Pace } from './pace.ts';

/** A file in a commit of a repository on the hub. */
export type Source = { access: HubAccess; repo: Repo; revision: string; file: RepoFile };

type Options = {
  /** Offset of the first byte. `end` is the offset after the last byte. */
  start: number;
  end: number;
  signal: AbortSignal;
  pace: Pace;
  /** Called with a description of each failure that is retried. */
  onFailure: (line: string) => void;
};

/** The hub is busy or closed the connection early. The remaining bytes are requested again. */
class Interrupted extends Error {
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null, cause?: unknown) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Streams a range of a file. If the response is interrupted, requests the remaining bytes again, after the
 * hub's Retry-After or with exponential backoff. Throws AppError 'conflict' if the content differs from the
 * hub's file list, 'unavailable' if too few bytes arrive, the errors of `hubResponseError`, and the signal's
 * reason.
 */
export async function* fetchBytes(source: Source, options: Options): AsyncGenerator<Buffer> {
  const { start, end, signal, pace, onFailure } = options;
  let at = start;
  let failures = 0;
  let look = { at, ms: performance.now() };
  while (at < end) {
    try {
      for await (const chunk of askOnce(source, { ...options, start: at })) {
        at += chunk.length;
        failures = 0;
        if (at - look.at >= pace.leastBytes) look = { at, ms: performance.now() };
        else if (performance.now() - look.ms > pace.leastMs) throw tooSlow(source);
        yield chunk;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Interrupted)) throw error;
      failures += 1;
      if (failures > pace.failuresMax) throw givenUp(source, error);
      const pauseMs = Math.min(
        pace.pauseMsMax,
        Math.max(error.retryAfterMs ?? 0, pace.againMs * 2 ** (failures - 1)),
      );
      onFailure(`${source.file.path}: ${error.message}. Trying again in ${Math.ceil(pauseMs / 1000)} s`);
      await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      look.ms += pauseMs;
    }
  }
}

/** Streams the bytes of a single request. */
async function* askOnce(source: Source, { start, end, signal, pace }: Options): AsyncGenerator<Buffer> {
  const stalled = new AbortController();
  const stall = () => stalled.abort(new Interrupted('nothing came for a while', null));
  const timer = setTimeout(stall, pace.stallMs);
  using linked = linkSignals(signal, stalled.signal);
  let answer: IncomingMessage | null = null;
  try {
    answer = await request(source, { start, end, signal: linked.signal });
    let left = end - start;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      timer.refresh();
      if (chunk.length > left) throw otherSize(source, `more than ${formatBytes(end)}`);
      left -= chunk.length;
      yield chunk;
    }
    if (left > 0) throw new Interrupted('the hub ended its response early', null);
  } catch (error) {
    signal.throwIfAborted();
    if (stalled.signal.aborted) throw stalled.signal.reason;
    throw isNetworkFault(error) ? new Interrupted('the connection broke', null, error) : error;
  } finally {
    clearTimeout(timer);
    answer?.destroy();
  }
}

function isNetworkFault(error: unknown): boolean {
  return !(error instanceof AppError || error instanceof Interrupted);
}

/** Returns a response with exactly these bytes. */
async function request(
  source: Source,
  { start, end, signal }: { start: number; end: number; signal: AbortSignal },
): Promise<IncomingMessage> {
  const { access, repo, revision, file } = source;
  const isWhole = start === 0 && end === file.sizeBytes;
  const headers: Record<string, string> = isWhole ? {} : { range: `bytes=${start}-${end - 1}` };
  const url = fileUrl(access.url, repo, revision, file.path);
  const answer = await requestHub(access, url, { headers, signal, keepsConnection: true }).catch(
    (error: unknown) => {
      signal.throwIfAborted();
      throw error instanceof AppError ? new Interrupted('the hub cannot be reached', null, error) : error;
    },
  );
  try {
    assertExpectedResponse(source, answer, { start, end, isWhole });
    return answer;
  } catch (error) {
    answer.destroy();
    throw error;
  }
}

/** Throws if status, length or range of the response do not match the request. */
function assertExpectedResponse(
  source: Source,
  { statusCode = 0, headers }: IncomingMessage,
  { start, end, isWhole }: { start: number; end: number; isWhole: boolean },
): void {
  const { access, repo, file } = source;
  if (statusCode === 429 || statusCode >= 500)
    throw new Interrupted(
      `the hub answered with ${statusCode}`,
      readRetryAfter(headers['retry-after'], new Date()),
    );
  if (statusCode === 416) throw otherSize(source, 'fewer');
  if (statusCode === 404 && headers['x-error-code'] !== 'RepoNotFound') throw goneFile(source);
  if (statusCode !== 200 && statusCode !== 206)
    throw hubResponseError({ statusCode, headers }, { what: nameOf(repo), token: access.token });
  if (statusCode === 206) {
    const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
    if (Number(first) !== start) throw new Interrupted('the hub sent another range than requested', null);
    if (total !== '*' && Number(total) !== file.sizeBytes)
      throw otherSize(source, formatBytes(Number(total)));
    return;
  }
  if (!isWhole) throw conflict(`The hub sends ${file.path} only as a whole, so the download cannot resume`);
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== end) throw otherSize(source, formatBytes(Number(length)));
}

function otherSize({ file }: Source, sent: string): AppError {
  return conflict(`The hub lists ${file.path} with ${formatBytes(file.sizeBytes)}, and sends ${sent}`);
}

/**
 * Returns the error for a file that the hub listed but no longer has. Its owner has rewritten the history, or
 * the hub has lost it.
 */
function goneFile({ repo, revision, file }: Source): AppError {
  return conflict(
    `The hub no longer has ${file.path} of ${nameOf(repo)} at ${revision.slice(0, 8)}. ` +
      'Clone the repository again to copy its newest version',
  );
}

function tooSlow({ file }: Source): AppError {
  return unavailable(`The hub sends ${file.path} too slowly. Try again later: the copy resumes`);
}

function givenUp({ file }: Source, { message, cause }: Interrupted): Error {
  if (cause instanceof AppError) return cause;
  return unavailable(`${file.path} could not be copied: ${message}`, { cause });
}
