import { pinStates } from '@bakehouse/contract/ipfs';
import * as z from 'zod';
import type { Kubo } from './kubo.ts';
import { PinFailure, type PinReport, type PinService, shown } from './pin-service.ts';

const CALL_MS = 30_000;
/** All pins have this name, so that the service learns nothing about their content. */
const NAME = 'bakehouse';
/** Limit of the API. */
const ORIGINS_MAX = 20;

const pinStatus = z.object({
  requestid: z.string(),
  status: z.enum(pinStates),
  delegates: z.array(z.string()).default([]),
  info: z.looseObject({ status_details: z.string().optional() }).nullish(),
});
const pinResults = z.object({ results: z.array(pinStatus) });
const failure = z.object({ error: z.object({ reason: z.string(), details: z.string().optional() }) });

type Settings = { url: string; token: string };

/**
 * Returns a client of the IPFS Pinning Service API. The service fetches the content from the operator's node,
 * so a pin is requested only once `isAtNode` returns true.
 */
export function openPinningService(
  settings: Settings,
  { node, isAtNode }: { node: Kubo; isAtNode: (cid: string) => Promise<boolean> },
): PinService {
  const find = async (cid: string, signal: AbortSignal) => {
    const query = new URLSearchParams({ cid, name: NAME, status: pinStates.join(',') }).toString();
    return (await read(settings, `pins?${query}`, pinResults, { signal }))?.results ?? [];
  };
  const remove = (id: string, signal: AbortSignal) =>
    read(settings, `pins/${encodeURIComponent(id)}`, z.unknown(), { method: 'DELETE', signal });
  const add = async (cid: string, signal: AbortSignal) => {
    const origins = (await node.addresses(signal)).slice(0, ORIGINS_MAX);
    const body = JSON.stringify({ cid, name: NAME, origins });
    const status = await read(settings, 'pins', pinStatus, { method: 'POST', body, signal });
    if (!status) throw new PinFailure('The pinning service did not accept it');
    // The service may be unable to connect to our node, e.g. behind NAT, so our node connects to the service.
    await Promise.allSettled(status.delegates.map((address) => node.connect(address, signal)));
    return status;
  };
  return {
    name: 'pinning_service',
    keep: async ({ cid, request_id: id }, { signal }) => {
      const known = id && (await read(settings, `pins/${encodeURIComponent(id)}`, pinStatus, { signal }));
      // Look up the pin by its CID: a process may have crashed before it stored the id of its request.
      const status = known || (await find(cid, signal))[0];
      if (status && status.status !== 'failed') return toReport(status);
      if (!(await isAtNode(cid)))
        return { state: 'queued', reason: 'Waits for the IPFS node', requestId: null };
      if (status) await remove(status.requestid, signal);
      return toReport(await add(cid, signal));
    },
    drop: async ({ cid }, signal) => {
      for (const { requestid } of await find(cid, signal)) await remove(requestid, signal);
    },
  };
}

function toReport({ requestid, status, info }: z.infer<typeof pinStatus>): PinReport {
  const details = info?.status_details && shown(info.status_details);
  const reason =
    status === 'failed' ? details || 'The pinning service did not get the files' : details || null;
  return { state: status, reason: status === 'pinned' ? null : reason, requestId: requestid };
}

/** Returns null if the service has no such pin. Throws PinFailure. */
async function read<Schema extends z.ZodType>(
  { url, token }: Settings,
  path: string,
  schema: Schema,
  { signal, ...init }: RequestInit & { signal: AbortSignal },
): Promise<z.output<Schema> | null> {
  const address = new URL(path, `${url.replace(/\/+$/, '')}/`);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const within = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]);
  let answer: { status: number; text: string };
  try {
    const response = await fetch(address, { ...init, headers, signal: within, redirect: 'error' });
    answer = { status: response.status, text: await response.text() };
  } catch (cause) {
    throw new PinFailure('The pinning service does not answer', { cause });
  }
  const { status, text } = answer;
  if (status === 404 && init.method !== 'POST') return null;
  if (status === 401 || status === 403)
    throw new PinFailure('The pinning service refused the token of this server');
  if (status >= 400) throw new PinFailure(`The pinning service refused it: ${reasonOf(status, text)}`);
  const parsed = schema.safeParse(text === '' ? undefined : parseJson(text));
  if (!parsed.success) throw new PinFailure('The pinning service sent an unexpected response');
  return parsed.data;
}

function reasonOf(status: number, text: string): string {
  const { error } = failure.safeParse(parseJson(text)).data ?? {};
  return error ? shown([error.reason, error.details].filter(Boolean).join(': ')) : `status ${status}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
