import pg from 'pg';
import type { Logger } from 'pino';
import { keepAlive } from './database.ts';

/**
 * Without an answer in this time, the database counts as unavailable even if the connection is open, for
 * example through a proxy.
 */
const ANSWER_MS = 5_000;

const RECONNECT_MS = 1_000;

type Options = {
  url: string;
  /** Application name shown by PostgreSQL for the connection. */
  name: string;
  channel: string;
  onMessage: (payload: string | undefined) => void;
  onBreak?: () => void;
  /** Called when the connection is open again. Notifications were missed in between. */
  onReconnect: () => void;
  log: Logger;
};

type Listening = {
  /** Returns the connection, or null while it is broken. */
  client: () => pg.Client | null;
  close: () => Promise<void>;
};

/** Listens on a dedicated connection, and reconnects. Rejects if the first connection fails. */
export async function listenWithReconnect(options: Options): Promise<Listening> {
  const { name, onBreak, onReconnect, log } = options;
  let client: pg.Client | null = null;
  let closed = false;
  /** Logs exceptions of handlers, because an exception in a connection's listener would end the process. */
  const guarded = (handle: () => void, onFailure?: () => void) => {
    try {
      handle();
    } catch (error) {
      log.error({ err: error }, `handler of the connection '${name}' failed`);
      onFailure?.();
    }
  };

  const connect = async () => {
    const next = await openListener({
      ...options,
      // Listeners after the one that failed did not get the notification, so treat it as missed.
      onMessage: (payload) =>
        guarded(
          () => options.onMessage(payload),
          () => guarded(onReconnect),
        ),
      onError: (error) => log.warn({ err: error }, `connection '${name}' broke`),
    });
    next.once('end', () => {
      client = null;
      if (onBreak) guarded(onBreak);
      reconnect();
    });
    client = next;
  };

  const reconnect = () => {
    if (closed) return;
    setTimeout(() => {
      if (!closed) connect().then(() => guarded(onReconnect), reconnect);
    }, RECONNECT_MS).unref();
  };

  await connect();
  return {
    client: () => client,
    close: async () => {
      closed = true;
      await client?.end();
    },
  };
}

type OpenListenerOptions = {
  url: string;
  /** Application name shown by PostgreSQL for the connection. */
  name: string;
  channel: string;
  onMessage: (payload: string | undefined) => void;
  onError: (error: Error) => void;
};

/** Opens a dedicated connection that listens to a channel. Closes the connection if it rejects. */
export async function openListener(options: OpenListenerOptions): Promise<pg.Client> {
  const { url, name, channel, onMessage, onError } = options;
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: ANSWER_MS,
    ...keepAlive,
  });
  client.on('notification', ({ payload }) => onMessage(payload));
  client.on('error', onError);
  try {
    await client.connect();
    // The timeout applies to this query only.
    const listen = { text: `listen ${channel}`, query_timeout: ANSWER_MS };
    await client.query(listen);
    return client;
  } catch (error) {
    client.end().catch(onError);
    throw error;
  }
}
