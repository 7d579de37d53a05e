import { type ChangeEvent, streamEvents } from '@bakehouse/contract/events';
import { createParser, type ParserCallbacks } from 'eventsource-parser';
import { callRaw } from '../api/api-client.ts';
import { getCredentials } from '../api/credentials.ts';
import { setConnected } from './event-stream.ts';
import { electListener, type ListenerElection } from './listener-election.ts';
import { checkServer, onReconnect } from './online.ts';
import { changeRefresher, refreshMissed } from './refresh-changed.ts';
import { textPieces } from './text-pieces.ts';

const RECONNECT_MS = { first: 1_000, last: 30_000 };
/**
 * Streams shorter than this increase the delay, so that a proxy that cuts every stream isn't hit every
 * second.
 */
const STEADY_MS_MIN = 30_000;
/**
 * The server sends a heartbeat every 15 s. After the machine sleeps, a dead connection may not report an
 * error.
 */
const SILENCE_MS_MAX = 40_000;
/**
 * If the first stream opens within this time, it includes all changes since the page started to read: the
 * server replays the last 10 s.
 */
const FIRST_OPENING_MS_MAX = 7_000;

/**
 * Follows the user's changes and refetches affected queries that were read since `begunAt` (Unix
 * milliseconds). Reconnects until the signal aborts or another user's key is used. The server replays missed
 * events on reconnect. After a broken stream everything is refetched, because a killed server may have lost
 * changes. Runs only while the page is visible or is the hidden page elected to listen.
 */
export async function followChanges(userId: string, begunAt: number, signal: AbortSignal): Promise<void> {
  let delay = RECONNECT_MS.first;
  let lost = false;
  let lastId: string | null = null;
  const refresh = changeRefresher(signal);
  const place = electListener(signal);
  while (!signal.aborted && getCredentials()?.userId === userId) {
    await untilMayListen(place, signal);
    const silence = new AbortController();
    let hasLeft = false;
    const stopLooking = place.onChange(() => {
      hasLeft = true;
      silence.abort();
    });
    let openedAt = Number.POSITIVE_INFINITY;
    try {
      const response = await callRaw(
        streamEvents,
        {},
        {
          headers: lastId === null ? {} : { 'last-event-id': lastId },
          signal: AbortSignal.any([signal, silence.signal]),
        },
      );
      setConnected(true);
      openedAt = Date.now();
      lost ||= Date.now() - begunAt > FIRST_OPENING_MS_MAX;
      if (lost && lastId === null) refreshMissed();
      await readEvents(response, silence, {
        onEvent: ({ event, data }) => {
          if (event === 'change') refresh(JSON.parse(data) as ChangeEvent);
          if (event === 'reset') refreshMissed();
        },
        onId: (id) => {
          lastId = id;
        },
      });
    } catch {
      // The next attempt shows whether the stream is available again.
      if (!hasLeft) lastId = null;
    } finally {
      stopLooking();
    }
    lost = true;
    setConnected(false);
    if (Date.now() - openedAt >= STEADY_MS_MIN) delay = RECONNECT_MS.first;
    if (!place.may() || signal.aborted) continue;
    void checkServer();
    await pause(delay, signal);
    delay = Math.min(delay * 2, RECONNECT_MS.last);
  }
  setConnected(false);
}

/** Reads the stream to its end; aborts `silence` if no data arrives for too long. */
async function readEvents(
  response: Response,
  silence: AbortController,
  callbacks: Pick<ParserCallbacks, 'onEvent' | 'onId'>,
): Promise<void> {
  if (!response.body) return;
  const parser = createParser(callbacks);
  let timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
  try {
    for await (const piece of textPieces(response.body)) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS_MAX);
      parser.feed(piece);
    }
  } finally {
    clearTimeout(timer);
  }
}

function untilMayListen(place: ListenerElection, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!place.may() && !signal.aborted) return;
      stopLooking();
      signal.removeEventListener('abort', look);
      resolve();
    };
    const stopLooking = place.onChange(look);
    signal.addEventListener('abort', look);
    look();
  });
}

/**
 * Waits with up to 50% jitter, so that not all pages reconnect simultaneously. Resolves early on reconnect.
 */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const go = () => {
      clearTimeout(timer);
      stopWaiting();
      signal.removeEventListener('abort', go);
      resolve();
    };
    const timer = setTimeout(go, ms * (1 + Math.random() / 2));
    const stopWaiting = onReconnect(go);
    signal.addEventListener('abort', go);
  });
}
