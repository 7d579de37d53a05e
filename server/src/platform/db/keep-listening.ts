import type pg from 'pg';
import type { Logger } from 'pino';
import { openListener } from './open-listener.ts';

type Options = {
  url: string;
  /** Application name shown by PostgreSQL for the connection. */
  name: string;
  channel: string;
  onMessage: (payload: string | undefined) => void;
  onBreak?: () => void;
  /** Called when the connection is open again: notifications in between were missed. */
  onReconnect: () => void;
  log: Logger;
};

export type Listening = {
  /** The connection; null while it is broken. */
  client: () => pg.Client | null;
  close: () => Promise<void>;
};

const RECONNECT_MS = 1_000;

/** Listens on a dedicated connection, and reconnects. Rejects if the first connection fails. */
export async function keepListening(options: Options): Promise<Listening> {
  const { name, onBreak, onReconnect, log } = options;
  let client: pg.Client | null = null;
  let closed = false;
  /** An exception in a connection handler would end the process. */
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
      // Later listeners did not get the notification, so treat it as missed.
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
