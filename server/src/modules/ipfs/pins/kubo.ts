import { Readable } from 'node:stream';
import * as z from 'zod';
import { PinFailure, type PinService, shown } from './pin-service.ts';

const CALL_MS = 30_000;
/** The time limit of an import assumes at least this throughput. */
const BYTES_PER_MS_MIN = 1_000;
const IMPORT_MS = 5 * 60_000;

const failure = z.object({ Message: z.string() });
const identity = z.object({ Addresses: z.array(z.string()).nullish() });
const imported = z.object({
  Root: z.object({ Cid: z.object({ '/': z.string() }), PinErrorMsg: z.string().default('') }),
});

export type Kubo = PinService & {
  /** Returns the node's own addresses, at which other nodes reach it. */
  addresses: (signal: AbortSignal) => Promise<string[]>;
  /** Connects the node to another node. */
  connect: (address: string, signal: AbortSignal) => Promise<void>;
};

type Settings = { url: string; token: string | null };

/** Returns a client for the RPC of the operator's Kubo node. */
export function openKubo(settings: Settings): Kubo {
  const request = (command: string, query: Record<string, string>, signal: AbortSignal) =>
    call(settings, command, query, { signal: within(signal, CALL_MS) });
  const isPinned = async (cid: string, signal: AbortSignal) => {
    const answer = await request('pin/ls', { arg: cid, type: 'recursive' }, signal);
    if (answer.ok) return true;
    if (isAbout(answer.text, 'is not pinned')) return false;
    throw refused(answer);
  };
  return {
    name: 'kubo',
    keep: async ({ cid }, { readCar, onPinning, signal }) => {
      const pinned = { state: 'pinned', reason: null, requestId: null } as const;
      if (await isPinned(cid, signal)) return pinned;
      await onPinning();
      await importCar(settings, cid, await readCar(), signal);
      return pinned;
    },
    drop: async ({ cid }, signal) => {
      const answer = await request('pin/rm', { arg: cid }, signal);
      if (!answer.ok && !isAbout(answer.text, 'not pinned')) throw refused(answer);
    },
    addresses: async (signal) => {
      const answer = await request('id', {}, signal);
      if (!answer.ok) throw refused(answer);
      const { Addresses } = identity.parse(parseJson(answer.text));
      return (Addresses ?? []).filter((address) => !/^\/ip(4\/127\.|6\/::1\/)/.test(address));
    },
    connect: async (address, signal) => {
      await request('swarm/connect', { arg: address }, signal);
    },
  };
}

/** Sends all blocks to the node, which pins them below their root. Throws PinFailure unless it confirms. */
async function importCar(
  settings: Settings,
  cid: string,
  { car, bytes }: { car: Readable; bytes: number },
  signal: AbortSignal,
): Promise<void> {
  const boundary = `car-${cid}`;
  const body = async function* () {
    yield Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${cid}.car"\r\n` +
        'Content-Type: application/octet-stream\r\n\r\n',
    );
    yield* car;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  };
  let broken: unknown;
  car.once('error', (error) => {
    broken = error;
  });
  try {
    const answer = await call(
      settings,
      'dag/import',
      { 'pin-roots': 'true', stats: 'false' },
      {
        signal: within(signal, IMPORT_MS + Math.ceil(bytes / BYTES_PER_MS_MIN)),
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: Readable.toWeb(Readable.from(body())),
        duplex: 'half',
      },
    );
    if (!answer.ok) throw refused(answer);
    requireRoot(answer.text, cid);
  } catch (error) {
    // If reading the CAR failed, report that error, not the node's.
    throw broken ?? error;
  } finally {
    car.destroy();
  }
}

/**
 * Throws PinFailure unless the import's last line names the pinned root. An interrupted import has no such
 * line.
 */
function requireRoot(text: string, cid: string): void {
  const lines = text.split('\n').filter(Boolean);
  const root = lines.map((line) => imported.safeParse(parseJson(line)).data?.Root).find(Boolean);
  if (root?.PinErrorMsg) throw new PinFailure(`The IPFS node refused it: ${shown(root.PinErrorMsg)}`);
  if (root?.Cid['/'] !== cid) throw new PinFailure('The IPFS node stopped the import');
}

type Answer = { ok: boolean; status: number; text: string };

async function call(
  { url, token }: Settings,
  command: string,
  query: Record<string, string>,
  init: RequestInit & { duplex?: 'half' },
): Promise<Answer> {
  const address = new URL(`api/v0/${command}`, `${url.replace(/\/+$/, '')}/`);
  address.search = new URLSearchParams(query).toString();
  const headers = new Headers(init.headers);
  if (token) headers.set('authorization', `Bearer ${token}`);
  try {
    const answer = await fetch(address, { ...init, method: 'POST', headers, redirect: 'error' });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  } catch (cause) {
    throw new PinFailure('The IPFS node does not answer', { cause });
  }
}

function refused({ status, text }: Answer): PinFailure {
  if (status === 401 || status === 403)
    return new PinFailure('The IPFS node refused the token of this server');
  const message = failure.safeParse(parseJson(text)).data?.Message ?? `status ${status}`;
  return new PinFailure(`The IPFS node refused it: ${shown(message)}`);
}

function isAbout(text: string, words: string): boolean {
  return failure.safeParse(parseJson(text)).data?.Message.includes(words) ?? false;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function within(signal: AbortSignal, ms: number): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ms)]);
}
