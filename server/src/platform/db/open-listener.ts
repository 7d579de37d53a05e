import pg from 'pg';
import { keepAlive } from './database.ts';

type Options = {
  url: string;
  /** Application name shown by PostgreSQL for the connection. */
  name: string;
  channel: string;
  onMessage: (payload: string | undefined) => void;
  onError: (error: Error) => void;
};

/** A slower database counts as unavailable even if the connection is open, for example through a proxy. */
const ANSWER_MS = 5_000;

/** Opens a dedicated connection that listens to a channel. If it rejects, it leaves no connection. */
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
    // The timeout applies to this query only.
    const listen = { text: `listen ${channel}`, query_timeout: ANSWER_MS };
    await client.query(listen);
    return client;
  } catch (error) {
    client.end().catch(onError);
    throw error;
  }
}
