import pg from 'pg';
import { keepAlive } from './database.ts';

type Options = {
  url: string;
  /** What PostgreSQL lists the connection as. */
  name: string;
  channel: string;
  onMessage: (payload: string | undefined) => void;
  onError: (error: Error) => void;
};

/** A database that does not answer for so long is away, however open its connection seems, as behind a proxy. */
const ANSWER_MS = 5_000;

/** A connection of its own that hears a channel. Rejects where that fails; then no connection is left. */
export async function openListener(options: Options): Promise<pg.Client> {
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
    // For this query alone: whoever asks something else over the connection waits as long as he likes.
    const listen = { text: `listen ${channel}`, query_timeout: ANSWER_MS };
    await client.query(listen);
    return client;
  } catch (error) {
    client.end().catch(onError);
    throw error;
  }
}
