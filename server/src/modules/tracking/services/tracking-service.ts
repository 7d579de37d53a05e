import type { IncomingMessage } from 'node:http';
import { isPublicAddress } from '../../../platform/http/addresses/is-public-address.ts';
import {
  ForbiddenAddress,
  requestAllowedAddress,
} from '../../../platform/http/addresses/request-allowed-address.ts';

/**
 * The service refuses the key, or its address is wrong. Nothing is logged until the owner saves another one.
 */
export class ServiceRefused extends Error {
  /** The invalid field: the key or the address. */
  readonly param: 'api_key' | 'url';

  constructor(
    message: string,
    { param = 'api_key', cause }: { param?: 'api_key' | 'url'; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.param = param;
  }
}

/** The service refuses one run, e.g. because the run was deleted there. It may accept other runs. */
export class RunRefused extends Error {}

/** The service does not answer, is overloaded, or reports an internal error. */
export class ServiceUnavailable extends Error {}

const TIMEOUT_MS = 20_000;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** A run to log, with its training parameters. */
export type RunToLog = {
  id: string;
  title: string;
  startedAt: Date;
  /** Team or user to which the run belongs at the service; null for the owner of the key. */
  entity: string | null;
  tags: string[];
  /** The base, the dataset and the training parameters. */
  parameters: Record<string, string | number | boolean>;
};

export type Point = { step: number; at: Date; values: Record<string, number> };

export type Outcome = 'completed' | 'failed' | 'cancelled';

/** State of a run at the service. */
type Logged = { remoteId: string; pointsSent: number };

/**
 * A client for an experiment tracker with its owner's key. All calls are idempotent. They throw
 * `ServiceRefused`, `RunRefused` or `ServiceUnavailable`.
 */
export type TrackingService = {
  /**
   * Verifies the key and the project. Returns the name of the key's owner; null if the service does not
   * report it.
   */
  check: () => Promise<string | null>;
  /** Creates the run at the service. */
  begin: (run: RunToLog) => Promise<{ remoteId: string; url: string }>;
  /** Sends new points. `lastValues` has the latest value of each metric. */
  log: (logged: Logged, points: Point[], lastValues: Record<string, number>) => Promise<void>;
  end: (logged: Logged, outcome: Outcome, at: Date) => Promise<void>;
};

/** Connection parameters of a service. */
export type Access = {
  /** Base URL. */
  url: URL;
  headers: Record<string, string>;
  /** True if the operator allows calls to this host although it is in a private network. */
  isTrusted: boolean;
  /** Display name. */
  name: string;
  /** Statuses by which the service refuses the key. */
  keyRefusals: readonly number[];
};

type Ask = {
  path: string;
  query?: Record<string, string>;
  /** Body of a POST request, sent as JSON. Without a body, the request is a GET. */
  body?: object;
};

/**
 * Calls an experiment tracker. The address must be public, unless the operator trusts the host. Returns the
 * status, which is 200 or 404, and the JSON answer; null if it is no JSON. Throws ServiceRefused, RunRefused
 * and ServiceUnavailable, whose messages are sentences.
 */
export async function callTracker(
  { url: base, headers, isTrusted, name, keyRefusals }: Access,
  { path, query = {}, body }: Ask,
): Promise<{ status: number; answer: unknown }> {
  const url = new URL(`${base.pathname.replace(/\/$/, '')}${path}`, base);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  const response = await requestAllowedAddress(url, {
    isAllowed: isTrusted ? () => true : isPublicAddress,
    headers: { accept: 'application/json', ...headers },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body && { body }),
  }).catch((cause: unknown) => {
    throw cause instanceof ForbiddenAddress
      ? new ServiceRefused(
          `${base.host} is not a public address. Ask the operator of this server to allow it`,
          { param: 'url', cause },
        )
      : new ServiceUnavailable(`${name} could not be reached`, { cause });
  });
  const text = await readText(response, name);
  const { statusCode: status = 0 } = response;
  if (status === 200 || status === 404) return { status, answer: parse(text) };
  const cause = new Error(`${url.host}${url.pathname} answered with ${status}: ${text.slice(0, 500)}`);
  if (keyRefusals.includes(status))
    throw new ServiceRefused(`${name} does not accept this API key`, { cause });
  if (status === 429 || status >= 500)
    throw new ServiceUnavailable(`${name} answered with status ${status}`, { cause });
  throw new RunRefused(`${name} refused the run: it answered with status ${status}`, { cause });
}

async function readText(response: IncomingMessage, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer exceeds ${ANSWER_BYTES_MAX} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new ServiceUnavailable(`${name} closed the connection during its answer`, { cause });
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
