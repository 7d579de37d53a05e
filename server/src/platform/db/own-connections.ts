import { connect, type Database } from './database.ts';

/** Runs long `work` on separate connections without a time limit, to spare those for requests. */
export async function onOwnConnections<T>(
  url: string,
  count: number,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const db = connect(url, { poolSize: count });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
