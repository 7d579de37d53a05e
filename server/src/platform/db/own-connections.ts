import { connect, type Database } from './database.ts';

/** Gives `work` connections of its own, without a limit of time: what takes long keeps none from those who answer requests. */
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
